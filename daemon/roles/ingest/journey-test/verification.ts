// A verification of a captured response: tests its status, or a value of its body.
import * as z from 'zod'
import { keyPath } from './key-path.ts'
import { hasMatcher, matcherFields, no_matcher, type ResponseTest } from './matcher.ts'

export const statusField = {
  status: z.int().min(100).max(599).optional().meta({ description: 'Status of a response of `rest`' }),
}

const verificationParams = z.strictObject({ path: keyPath.optional(), ...statusField, ...matcherFields })
export type VerificationParams = z.output<typeof verificationParams>

/** A path goes with matchers, and either these or a status are there. */
export function refineVerification<T extends z.ZodType<VerificationParams>>(schema: T) {
  return schema.superRefine((params, context) => {
    const add = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
    if (params.path !== undefined && !hasMatcher(params)) add('path', no_matcher)
    if (params.path === undefined && hasMatcher(params)) add('path', 'must name the value of the matchers')
    if (params.path === undefined && params.status === undefined && !hasMatcher(params))
      add('path', 'must be there with a matcher, or else status')
  })
}

/** Undefined for one of the status alone. */
export function valueTestOf({ status: _status, path, ...matchers }: VerificationParams): ResponseTest | undefined {
  return path === undefined ? undefined : { path, ...matchers }
}
