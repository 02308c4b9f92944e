// Written by `workbench connect`, taken out by `workbench disconnect`. It runs `workbench hook` at the moments of a session.
import { spawn } from "node:child_process";

const COMMAND = [];
const PROMPTS = false;

function run(moment, stdio, options = {}) {
  const [program, ...words] = COMMAND.map((word) => (word === "MOMENT" ? moment : word));
  return spawn(program, words, { stdio, ...options });
}

// What memory has to say at a moment; "" where it has nothing, takes too long or cannot be asked.
function told(moment, given, seconds) {
  return new Promise((resolve) => {
    const child = run(moment, ["pipe", "pipe", "ignore"]);
    const late = setTimeout(() => child.kill(), seconds * 1000);
    const parts = [];
    child.stdout.on("data", (part) => parts.push(part));
    child.stdin.on("error", () => {});
    child.on("error", () => resolve(""));
    child.on("close", () => {
      clearTimeout(late);
      try {
        resolve(JSON.parse(Buffer.concat(parts).toString()).hookSpecificOutput?.additionalContext ?? "");
      } catch {
        resolve("");
      }
    });
    child.stdin.end(JSON.stringify({ hook_event_name: moment, ...given }));
  });
}

// A session is told the same until it is compacted or ends, so that what the provider has cached of it holds.
const briefs = new Map();

async function briefOf(session) {
  if (!briefs.get(session)) {
    briefs.set(session, await told("session-start", {}, 10));
    if (briefs.size > 64) briefs.delete(briefs.keys().next().value);
  }
  return briefs.get(session);
}

// Have what matters of a conversation saved, even if the program ends; `then` runs where nothing went wrong.
function save(moment, session, conversation, then = () => {}) {
  if (!session) return Promise.resolve();
  return new Promise((resolve) => {
    const child = run(moment, ["pipe", "ignore", "pipe"], { detached: true });
    let complaint = false;
    child.stderr.on("data", () => (complaint = true));
    child.on("error", resolve);
    child.on("close", (code) => {
      if (code === 0 && !complaint) then();
      resolve();
    });
    child.stdin.on("error", resolve);
    child.stdin.end(JSON.stringify({ hook_event_name: moment, session_id: session, ...conversation }), () => {
      if (moment !== "pre-compact") resolve();
    });
    child.stderr.unref?.();
    child.unref();
  });
}
