// What a service may say about its tools, and what a call may return: everything else is a fault of the service.
import * as z from 'zod'
import { refuse } from '../../../daemon/kernel/error/errors.ts'
import { InputRequiredResult, inputRequests, max_input_state } from '../../../daemon/kernel/tools/client-input.ts'
import type { RemoteTool, RemoteToolResult } from '../../../daemon/kernel/tools/tool-service.ts'

const jsonObject = z.record(z.string(), z.unknown())

/** The characters that the protocol recommends, so that a name is one word wherever it is shown. */
const toolName = z.string().regex(/^[A-Za-z0-9_./-]{1,128}$/)

const remoteTool = z
  .object({
    name: toolName,
    title: z.string().optional(),
    description: z.string().optional(),
    inputSchema: jsonObject,
    outputSchema: jsonObject.optional(),
    annotations: jsonObject.optional(),
  })
  .transform(
    ({ inputSchema: input_schema, outputSchema: output_schema, ...tool }): RemoteTool => ({
      ...tool,
      input_schema,
      ...(output_schema ? { output_schema } : {}),
    }),
  )

const typedResponse = z.object({ result: z.object({ resultType: z.unknown() }) })

/**
 * Throws `Refusal` for a response of a type that the revision does not have: it is not a result, and in the revisions with
 * sessions the library takes it for one.
 */
export function requireKnownType(message: unknown, isInputRequirable: boolean): void {
  const response = typedResponse.safeParse(message)
  const type = response.success ? response.data.result.resultType : undefined
  if (type === undefined || type === 'complete' || (type === 'input_required' && isInputRequirable)) return
  throw refuse('unavailable', 'the service answers with a resultType that is not supported')
}

const inputRequired = z
  .object({
    resultType: z.literal('input_required'),
    inputRequests: inputRequests.default({}),
    requestState: z.string().max(max_input_state).optional(),
  })
  .refine(({ inputRequests, requestState }) => requestState !== undefined || Object.keys(inputRequests).length > 0, {
    message: 'must request input',
  })
  .transform(({ inputRequests, requestState }) => new InputRequiredResult(inputRequests, requestState))

export const nextCursor = z.string().max(4_096).optional()

export const toolPage = z
  .object({ tools: z.array(remoteTool), nextCursor })
  .transform(({ tools: items, nextCursor }) => ({ items, nextCursor }))

const toolResult = z
  .object({
    isError: z.boolean().optional(),
    content: z.array(jsonObject).default([]),
    structuredContent: jsonObject.optional(),
  })
  .transform(
    ({ isError, content, structuredContent }): RemoteToolResult => ({
      is_error: isError ?? false,
      content,
      ...(structuredContent ? { structured_content: structuredContent } : {}),
    }),
  )

export const toolOutcome = z.union([inputRequired, toolResult])

export const toolProgress = z.object({
  progress: z.number(),
  total: z.number().optional(),
  message: z.string().optional(),
})
