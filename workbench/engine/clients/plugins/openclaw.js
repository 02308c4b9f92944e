const talks = new Map();

function messagesOf(messages) {
  return messages
    .filter(({ role }) => role === "user" || role === "assistant")
    .map(({ role, content, timestamp }, index) => ({ id: `m${index}`, role, text: textOf(content), at: timestamp || Date.now() }))
    .filter(({ text }) => text);
}

export default {
  id: "workbench",
  name: "Workbench",
  register(api) {
    api.on("before_prompt_build", async (event, context) => {
      const prompt = event.currentUserMessage ?? event.prompt;
      const brief = await briefOf(context.sessionId ?? "");
      const found = PROMPTS && prompt ? await told("prompt", { prompt }, 4) : "";
      return { ...(brief && { appendSystemContext: brief }), ...(found && { prependContext: found }) };
    });
    api.on("agent_end", (event, context) => {
      if (!context.sessionId) return;
      talks.delete(context.sessionId);
      talks.set(context.sessionId, messagesOf(event.messages ?? []));
      if (talks.size > 16) talks.delete(talks.keys().next().value);
    });
    api.on("before_compaction", (event, context) =>
      save("pre-compact", context.sessionId ?? "", event.messages ? messagesOf(event.messages) : (talks.get(context.sessionId) ?? [])),
    );
    api.on("session_end", async (event) => {
      await save("session-end", event.sessionId, talks.get(event.sessionId) ?? []);
      talks.delete(event.sessionId);
    });
  },
};
