// Problem documents (RFC 9457): the form of every refusal that leaves the process.
import * as z from 'zod'
import { type ErrorCode, errorTable, Refusal } from './errors.ts'

export const problem = z
  .strictObject({
    type: z.string().meta({ description: 'urn:platform:problem:<code>' }),
    title: z.string(),
    status: z.int().min(400).max(599),
    detail: z.string(),
    instance: z.string().meta({ description: 'Trace id of the request, as in logs and audit records' }),
    code: z.enum(Object.keys(errorTable) as [ErrorCode, ...ErrorCode[]]),
    errors: z.array(z.strictObject({ path: z.string(), message: z.string() })),
  })
  .meta({ id: 'Problem', description: 'RFC 9457 problem document' })

export type Problem = z.infer<typeof problem>

export function problemOf(refusal: Refusal, instance: string): Problem {
  const { status, title } = refusal.row
  return {
    type: `urn:platform:problem:${refusal.code}`,
    title,
    status,
    detail: refusal.message,
    instance,
    code: refusal.code,
    errors: [...refusal.errors],
  }
}

/** Reads a problem document from a response; any other response becomes `unavailable`. */
export function refusalFromProblem(body: unknown, status: number): Refusal {
  const parsed = problem.safeParse(body)
  if (!parsed.success)
    return new Refusal('unavailable', `the service returned status ${status} without a problem document`)
  return new Refusal(parsed.data.code, parsed.data.detail, parsed.data.errors)
}
