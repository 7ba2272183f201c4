// What a service may say about its tools, and what a call may return: everything else is a fault of the service.
import * as z from 'zod'
import { refuse } from '../../../daemon/kernel/error/errors.ts'
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

const incompleteType = z.unknown().refine((type) => type !== undefined && type !== 'complete')
const incompleteResponse = z.object({ result: z.object({ resultType: incompleteType }) })

/**
 * Throws `Refusal` for a response whose service waits for something that a program does not give: it has no result yet, and
 * in the revisions with sessions the library takes it for one.
 */
export function requireComplete(message: unknown): void {
  if (incompleteResponse.safeParse(message).success)
    throw refuse('unavailable', 'the service answers with a resultType other than complete, which is not supported')
}

export const toolPage = z.object({ tools: z.array(remoteTool), nextCursor: z.string().max(4_096).optional() })

export const toolResult = z
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

export const toolProgress = z.object({
  progress: z.number(),
  total: z.number().optional(),
  message: z.string().optional(),
})
