// The Vercel AI SDK, through its OpenAI-compatible provider and through OpenAI's own. Prints one line of JSON.
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateObject, generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const { BASE_URL: baseURL, API_KEY: apiKey, MODEL: name } = process.env;
const compatible = createOpenAICompatible({
  name: "horde",
  baseURL,
  apiKey,
  includeUsage: true,
  supportsStructuredOutputs: true,
});
const providers = { compatible: compatible.chatModel(name), openai: createOpenAI({ baseURL, apiKey }).chat(name) };
const schema = z.object({ city: z.string(), degrees: z.number() });
const weather = tool({
  description: "The weather of a city.",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `Sunny in ${city}`,
});
const found = {};
for (const [kind, model] of Object.entries(providers)) {
  const whole = await generateText({ model, prompt: "Hello", maxRetries: 0 });
  const streaming = streamText({ model, prompt: "Hi", maxRetries: 0 });
  let streamed = "";
  for await (const piece of streaming.textStream) streamed += piece;
  const object = await generateObject({ model, schema, prompt: "Where?", maxRetries: 0 });
  const tooled = await generateText({
    model,
    prompt: "Use the tool.",
    tools: { weather },
    toolChoice: "auto",
    stopWhen: stepCountIs(3),
    maxRetries: 0,
  });
  found[kind] = {
    generate: whole.text,
    usage: whole.usage.totalTokens > 0,
    stream: streamed,
    stream_usage: (await streaming.usage).totalTokens > 0,
    finish: await streaming.finishReason,
    object: object.object,
    tool: tooled.text,
  };
}
console.log(JSON.stringify(found));
