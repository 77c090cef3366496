// The `openai` package for Node, as its manual uses it. Prints what it found as one line of JSON.
import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";

const { BASE_URL: baseURL, API_KEY: apiKey, MODEL: model } = process.env;
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const said = (content) => [{ role: "user", content }];
const Weather = z.object({ city: z.string(), degrees: z.number() });
const found = {};

const whole = await client.chat.completions.create({ model, messages: said("Hello") });
found.create = whole.choices[0].message.content;
found.usage = whole.usage.total_tokens > 0;

let streamed = "";
for await (const chunk of await client.chat.completions.create({ model, messages: said("Hi"), stream: true })) {
  streamed += chunk.choices[0]?.delta?.content ?? "";
}
found.stream = streamed;

const accumulating = client.chat.completions.stream({ model, messages: said("Hey") });
found.final = await accumulating.finalContent();

const parsed = await client.chat.completions.parse({
  model,
  messages: said("Where?"),
  response_format: zodResponseFormat(Weather, "weather"),
});
found.parse = parsed.choices[0].message.parsed;

const runner = client.chat.completions.runTools({
  model,
  messages: said("Use the tool."),
  tools: [
    {
      type: "function",
      function: {
        name: "weather",
        parse: JSON.parse,
        function: ({ city }) => `Sunny in ${city}`,
        parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      },
    },
  ],
});
found.tool = await runner.finalContent();

try {
  await client.chat.completions.create({ model: "no/Such", messages: said("x") });
} catch (error) {
  found.refused = [error.constructor.name, error.status, error.code, error.param];
}
found.models = (await client.models.list()).data.map((card) => card.id);
found.model = (await client.models.retrieve(model)).id;
console.log(JSON.stringify(found));
