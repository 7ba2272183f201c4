// The form of every refusal, for any caller and request.
import { expect } from 'vitest'
import type { ErrorCode } from '../../../daemon/kernel/error/errors.ts'
import { type Problem, problem } from '../../../daemon/kernel/error/problem.ts'
import type { AnyOperation } from '../../../daemon/kernel/operation/operation.ts'
import type { ExactResponse } from '../http/send-exact-request.ts'

/** Refusals that the kernel may answer for any operation without its saying so. */
export const kernelCodes: readonly ErrorCode[] = [
  'malformed',
  'unauthenticated',
  'forbidden',
  'method_not_allowed',
  'too_large',
  'unsupported_media_type',
  'invalid',
  'internal',
  'unavailable',
  'timeout',
]

/** Text that would reveal the inside to a stranger: paths of the machine, stacks, packages, tokens. */
const internalDetails =
  /\/(tmp|home|root|usr|var|etc|work|snapshot)\/|node_modules|\.(ts|js|mjs|cjs|db|yaml):?\b|\bat \w+ \(|Error:|SQLITE|eyJ|Zod/

/** The schema library's own words, which say little to people. */
const parserWords = /^Invalid|^Too (big|small)|^Unrecognized|, received |\bexpected\b/

/** Holds a refusal to the schema, the declaration and the silence about the inside; the problem, to look closer at. */
export function expectProblem(answer: ExactResponse, statuses: readonly number[], operation?: AnyOperation): Problem {
  expect(statuses, answer.text).toContain(answer.status)
  expect(answer.headers['content-type']).toBe('application/problem+json')
  expect(answer.headers['cache-control']).toBe('no-store')
  expect(answer.text).not.toMatch(internalDetails)
  const read = problem.parse(answer.json)
  expect(read.status).toBe(answer.status)
  for (const { message } of read.errors) expect(message).not.toMatch(parserWords)
  expect(read.instance).toMatch(/^[0-9a-f]{32}$/)
  if (answer.status === 401) expect(answer.headers['www-authenticate']).toMatch(/^Bearer realm="platform"/)
  if (operation) expect([...kernelCodes, ...operation.errors], 'a code that is not declared').toContain(read.code)
  return read
}
