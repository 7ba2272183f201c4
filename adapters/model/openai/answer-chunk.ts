// One part of an answer of `/chat/completions`, streamed or whole, as far as it is used: within bounds, whatever else it has.
import * as z from 'zod'

/** In one answer. */
export const max_tool_calls = 32

const callPart = z.object({
  index: z
    .int()
    .min(0)
    .max(max_tool_calls - 1)
    .nullish(),
  id: z.string().max(256).nullish(),
  function: z
    .object({
      name: z.string().max(256).nullish(),
      // An object is against the interface; some servers send one.
      arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
    })
    .nullish(),
})
export type ToolCallPart = z.infer<typeof callPart>

const messagePart = z.object({
  content: z.string().nullish(),
  tool_calls: z.array(callPart).max(max_tool_calls).nullish(),
})

/** `delta`: of a stream; `message`: of a whole answer. */
export const answerChunk = z.object({
  choices: z
    .array(
      z.object({
        delta: messagePart.nullish(),
        message: messagePart.nullish(),
        finish_reason: z.string().max(64).nullish(),
      }),
    )
    .max(8)
    .nullish(),
  usage: z.object({ prompt_tokens: z.int().min(0), completion_tokens: z.int().min(0) }).nullish(),
  error: z.unknown().optional(),
})
export type AnswerChunk = z.infer<typeof answerChunk>
