// A hop of a journey: one REST request or one call of an MCP tool, and what its answer must be.
import * as z from 'zod'
import { requiredText } from '../../../kernel/operation/required-text.ts'
import { sourceName } from '../http-source/model.ts'
import type { JsonValue } from './key-path.ts'
import { hasMatcher, no_matcher, valueTest } from './matcher.ts'
import { findBadReference, listReferences, type ResponseReference, reference_form } from './reference.ts'

const path_pattern =
  /^(?!.*%(?:2[eEfF]|5[cC]|00))(?:[A-Za-z0-9._~!$&'()*+,;=:@%-]|\$\{[^{}]{1,1100}\})+(?:\/(?:[A-Za-z0-9._~!$&'()*+,;=:@%-]|\$\{[^{}]{1,1100}\})+)*$/

const note = `${reference_form} stands for a value of the response of an earlier hop`

const restRequest = z.strictObject({
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).default('GET'),
  path: z
    .string()
    .max(4_096)
    .regex(path_pattern, 'must be a path of URL characters below the URL of the target, without a slash at its ends')
    .meta({ description: `Path below the URL of the target; ${note}, as one segment` }),
  query: z
    .record(requiredText(128), z.union([z.string().max(4_096), z.number(), z.boolean()]))
    .optional()
    .meta({ description: `Values of the query by name; ${note}` }),
  headers: z
    .partialRecord(z.enum(['accept', 'if-match', 'idempotency-key']), z.string().regex(/^[\x20-\x7e]{1,1024}$/))
    .optional()
    .meta({ description: `Headers besides those of the target; ${note}` }),
  body: z
    .json()
    .optional()
    .meta({ description: `JSON; ${note}, which keeps its type where it is the whole text` }),
})

const toolCall = z.strictObject({
  tool: z.string().regex(/^[A-Za-z0-9_./-]{1,128}$/, 'must be letters, digits and _ - . /, at most 128'),
  arguments: z
    .record(requiredText(128), z.json())
    .default({})
    .meta({ description: `Arguments by name; ${note}` }),
})

const until = z
  .strictObject({
    ...valueTest.shape,
    within_s: z.int().min(1).max(600).default(60).meta({ description: 'Longest time of all repetitions' }),
  })
  .refine(hasMatcher, no_matcher)

export const hopFields = {
  target: sourceName.meta({ description: 'Name of a target in ingest.http_targets of the profile' }),
  rest: restRequest.optional().meta({ description: 'A request of a REST interface' }),
  mcp: toolCall.optional().meta({ description: 'A call of an MCP tool at /agentspace of the target' }),
  expect_status: z
    .int()
    .min(100)
    .max(599)
    .optional()
    .meta({ description: 'Status that the answer to `rest` must have; default: any from 200 to 299' }),
  expect_error: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether the tool of `mcp` must end with an error; default: it must not' }),
  until: until.optional().meta({
    description: 'Repeats the request each second until this holds; for GET and for tools that change nothing',
  }),
}

const hopParams = z.strictObject(hopFields)
export type HopParams = z.output<typeof hopParams>

/** Checks beyond the fields: one kind of request, and what goes with it. */
export function refineHop<T extends z.ZodType<HopParams>>(schema: T) {
  return schema.superRefine(({ rest, mcp, expect_status, expect_error, until: repeated }, context) => {
    const add = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
    if ((rest === undefined) === (mcp === undefined)) add('rest', 'must be there, or else mcp, and not both')
    if (mcp && expect_status !== undefined) add('expect_status', 'goes with rest; mcp has expect_error')
    if (rest && expect_error) add('expect_error', 'goes with mcp; rest has expect_status')
    if (rest && repeated && rest.method !== 'GET') add('until', 'goes with GET, which may be repeated')
    const bad = findBadReference(requestOf({ rest, mcp }))
    if (bad !== undefined)
      add(
        rest ? 'rest' : 'mcp',
        `has a text with \${ that is not a reference such as ${reference_form}: ${bad.slice(0, 100)}`,
      )
  })
}

/** Values of earlier responses that the request takes. */
export function referencesOf(hop: Pick<HopParams, 'rest' | 'mcp'>): ResponseReference[] {
  return listReferences(requestOf(hop))
}

function requestOf({ rest, mcp }: Pick<HopParams, 'rest' | 'mcp'>): JsonValue {
  if (mcp) return mcp.arguments as JsonValue
  return [rest?.path ?? '', { ...rest?.query }, { ...rest?.headers } as JsonValue, (rest?.body ?? null) as JsonValue]
}
