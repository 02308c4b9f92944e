function textOf(parts) {
  return parts.filter(({ type, synthetic }) => type === "text" && !synthetic).map(({ text }) => text).join("\n");
}

export const Workbench = async ({ client }) => {
  // What was said in each session, by message; kept here because the program does not wait for questions when it ends.
  const talks = new Map();

  async function talkOf(session) {
    if (!talks.has(session)) {
      talks.set(session, new Map());
      const { data } = await client.session.messages({ path: { id: session } });
      for (const { info, parts } of data ?? []) {
        noteMessage(info);
        parts.forEach(notePart);
      }
    }
    return talks.get(session);
  }

  function noteMessage({ id, sessionID, role, time }) {
    const talk = talks.get(sessionID);
    if (talk) talk.set(id, { parts: new Map(), ...talk.get(id), role, at: time.created });
  }

  function notePart({ id, messageID, sessionID, type, text, synthetic }) {
    const message = talks.get(sessionID)?.get(messageID);
    // `opencode run "words"` says them in quotation marks, as if somebody else had.
    if (message && type === "text" && !synthetic) message.parts.set(id, text?.replace(/^"([^"]*)"$/, "$1"));
  }

  // Tell what was said since the last time that it was saved.
  function saved(moment, session) {
    const unsaved = [...(talks.get(session) ?? [])].filter(([, { saved }]) => !saved);
    const said = unsaved.map(([id, { role, at, parts }]) => ({ id, role, at, text: [...parts.values()].join("\n") }));
    const messages = said.filter(({ text }) => text);
    const then = () => messages.forEach(({ id }) => Object.assign(talks.get(session)?.get(id) ?? {}, { saved: true }));
    return messages.length ? save(moment, session, { messages }, then) : undefined;
  }

  return {
    "experimental.chat.system.transform": async (input, output) => {
      // A request for a title has no session.
      const brief = input.sessionID ? await briefOf(input.sessionID) : "";
      if (brief) output.system.push(brief);
    },
    "chat.message": async (input, output) => {
      await talkOf(input.sessionID);
      const prompt = PROMPTS ? textOf(output.parts) : "";
      const found = prompt ? await told("prompt", { prompt }, 4) : "";
      const last = output.parts.findLast((part) => part.type === "text");
      if (found && last) output.parts.push({ ...last, id: `${last.id}w`, text: found, synthetic: true });
    },
    "experimental.session.compacting": ({ sessionID }) => {
      briefs.delete(sessionID);
      return saved("pre-compact", sessionID);
    },
    event: async ({ event: { type, properties } }) => {
      if (type === "message.updated") noteMessage(properties.info);
      if (type === "message.part.updated") notePart(properties.part);
      // It has no end of a session: each answer is one.
      if (type === "session.idle") saved("session-end", properties.sessionID);
      if (type === "session.deleted") {
        const ended = properties.sessionID ?? properties.info?.id;
        [talks, briefs].forEach((kept) => kept.delete(ended));
      }
    },
  };
};
