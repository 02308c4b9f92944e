import { homedir } from "node:os";
import { join } from "node:path";

const SESSIONS = process.env.OPENCLAW_STATE_DIR || join(homedir(), ".openclaw");

function saved(moment, { sessionKey }) {
  briefs.delete(sessionKey);
  return save(moment, sessionKey, { transcript_path: SESSIONS });
}

export default {
  id: "workbench",
  name: "Workbench",
  register(api) {
    api.on("before_prompt_build", async (event, context) => {
      const prompt = event.currentUserMessage ?? event.prompt;
      const brief = await briefOf(context.sessionKey ?? "");
      const found = PROMPTS && prompt ? await told("prompt", { prompt }, 4) : "";
      return { ...(brief && { appendSystemContext: brief }), ...(found && { prependContext: found }) };
    });
    api.on("before_compaction", (_, context) => saved("pre-compact", context));
    api.on("session_end", (event, context) => saved("session-end", { ...context, ...event }));
  },
};
