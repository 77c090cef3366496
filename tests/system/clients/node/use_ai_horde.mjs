// The `@zeldafan0225/ai_horde` package: every method of it that names a route of this horde. Prints what it found as one line of JSON.
import { AIHorde, APIError } from "@zeldafan0225/ai_horde";

const { BASE_URL, API_KEY: token, MODERATOR_KEY: moderator } = process.env;
const horde = new AIHorde({ api_route: BASE_URL.replace(/\/v1$/, "/api/v2"), client_agent: "tests:1:tests" });
const asUser = { token };
const asModerator = { token: moderator };
const model = "test/Npm-7B";
const found = {};
const keys = (value) => Object.keys(value).sort();

async function refusal(call) {
  try {
    await call;
  } catch (error) {
    return error instanceof APIError ? [error.status, error.error_code ?? null, keys(error.errors)] : String(error);
  }
  return "nothing was refused";
}

// what a list tells once it does: lists may be some seconds old
async function soon(list) {
  for (let tries = 0; ; tries++) {
    try {
      const value = await list();
      if (value !== undefined) return value;
    } catch (error) {
      if (tries > 100) throw error;
    }
    if (tries > 100) throw new Error(`not listed in time: ${list}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

// how the horde is
found.heartbeat = await horde.getHeartbeat();
// it always sends a key, and the modes are refused to every key but a moderator's
found.modes = await refusal(horde.getModes());
found.modesOfModerators = keys(await horde.getModes(asModerator));
found.performance = (await horde.getPerformance({ fields: ["text_worker_count"] })).text_worker_count > 0;
found.imageModels = await horde.getModels();
found.news = await horde.getNews();
found.switched = await horde.putStatusModes({ raid_mode: false }, asModerator);

// accounts
const me = await horde.findUser(asUser);
found.me = me.username === `clients_user#${me.id}`;
found.part = keys(await horde.findUser({ ...asUser, fields: ["id", "kudos"] }));
found.details = (await horde.getUserDetails(me.id, asUser)).active_generations.text;
found.masked = keys(await horde.getUserDetails(me.id, { fields: ["username"] }));
found.users = (await horde.getUsers()).some((user) => user.id === me.id);
found.updated = await horde.updateUser({ public_workers: true }, me.id, asUser);
found.unknownKey = await refusal(horde.findUser({ token: "nobody's key" }));

// shared keys and gifts
const lent = await horde.putSharedKey({ kudos: 50, name: "for friends", expiry: 3 }, asUser);
found.lent = [lent.kudos, lent.name, lent.utilized];
found.relent = (await horde.updateSharedKey({ kudos: 70 }, lent.id, asUser)).kudos;
found.seen = (await horde.getSharedKey(lent.id)).kudos;
found.returned = await horde.deleteSharedKey(lent.id, asUser);
const { id: friend } = await horde.findUser(asModerator);
found.given = await horde.postKudosTransfer({ username: `clients_moderator#${friend}`, amount: 5 }, asUser);
found.notGiven = await refusal(horde.postKudosTransfer({ username: "nobody#999999", amount: 5 }, asUser));

// a worker, a request, its reply
const declared = {
  name: "npm worker",
  models: [model],
  max_length: 512,
  max_context_length: 4096,
  priority_usernames: [],
  softprompts: [],
  bridge_agent: "tests:1:tests",
  nsfw: true,
  amount: 1,
  threads: 1,
};
const empty = await horde.postTextGenerationPop(declared, asUser);
found.empty = [empty.id, empty.ids, empty.skipped];
const asked = { prompt: "Once", params: { n: 1, max_length: 80, max_context_length: 1024 }, models: [model] };
const queued = await horde.postAsyncTextGenerate(asked, asUser);
found.queued = queued.kudos > 0;
found.waiting = keys(await horde.getTextGenerationStatus(queued.id, { fields: ["waiting", "done", "is_possible"] }));
const job = await horde.postTextGenerationPop(declared, asUser);
found.job = [job.payload.prompt, job.model, job.id === job.ids[0]];
const reply = { id: job.id, generation: "Once upon a time", seed: 1 };
found.reward = (await horde.postTextGenerationSubmit(reply, asUser)).reward > 0;
found.again = await refusal(horde.postTextGenerationSubmit(reply, asUser));
const done = await horde.getTextGenerationStatus(queued.id);
found.done = [done.done, done.generations.map((one) => [one.text, one.model, one.worker_name, one.state])];
const other = await horde.postAsyncTextGenerate(asked, asUser);
const cancelled = await horde.deleteTextGenerationRequest(other.id);
found.cancelled = [cancelled.waiting, cancelled.generations, (await horde.getTextGenerationStatus(other.id)).done];
found.invalid = await refusal(horde.postAsyncTextGenerate({ prompt: "x", params: { n: 99 } }, asUser));
found.totals = (await horde.getTextTotalStats()).total.requests > 0;
found.models = (await horde.getTextModelStats()).total[model];
found.model = (await soon(() => horde.getModel(model))).map((one) => [one.name, one.count, one.type]);

// workers
const mine = await soon(async () =>
  (await horde.getWorkers({ fields: ["id", "name"] })).find((one) => one.name === declared.name),
);
found.worker = keys(mine);
found.workerDetails = (await horde.getWorkerDetails(mine.id)).models;
found.maintained = await horde.updateWorker({ maintenance: true, info: "away" }, mine.id, asUser);
found.deleted = await refusal(horde.deleteWorker(mine.id, asUser));
found.unknownWorker = await refusal(horde.getWorkerDetails("nobody"));

// moderators
// its second parameter is read by nothing
const unwanted = { regex: "npm\\w+word", filter_type: 10, description: "from npm" };
const filter = await horde.addFilter(unwanted, undefined, asModerator);
found.filter = [filter.regex, filter.filter_type, filter.description];
found.filtered = (await horde.getFilters({ filter_type: "10", contains: "npm" }, asModerator)).map((one) => one.id);
found.filtered = found.filtered.length === 1 && found.filtered[0] === filter.id;
found.oneFilter = (await horde.getFilter(filter.id, asModerator)).description;
found.changedFilter = (await horde.updateFilter({ description: "changed" }, filter.id, asModerator)).description;
found.matches = (await horde.postFilters({ prompt: "an npmbadword", filter_type: 10 }, asModerator)).matches;
found.noFilter = await horde.deleteFilter(filter.id, asModerator);
found.timeout = await horde.deleteIPTimeout({ ipaddr: "203.0.113.77" }, asModerator);
found.notModerator = await refusal(horde.getFilters({}, asUser));

console.log(JSON.stringify(found));
