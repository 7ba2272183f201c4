// Refusal codes map to documented statuses and exit codes, and to problem documents of RFC 9457.
import { describe, expect, test } from 'vitest'
import { type ErrorCode, type ErrorRow, errorTable, isRefusal, Refusal, refuse } from './errors.ts'
import { problem, problemOf, refusalFromProblem } from './problem.ts'

const rows = Object.entries(errorTable) as [ErrorCode, ErrorRow][]

describe('each refusal', () => {
  test.each(rows)('%s has consistent status and exit code', (_code, { status, exit, retryable }) => {
    expect(status).toBeGreaterThanOrEqual(400)
    if (status === 401 || status === 403) expect(exit).toBe(3)
    if (status === 429 || status === 503) expect({ exit, retryable }).toEqual({ exit: 4, retryable: true })
    if (exit === 2) expect(status).toBeLessThan(500)
  })

  test.each(rows)('%s survives the round trip through a problem document', (code, row) => {
    const sent = problemOf(new Refusal(code, 'why', [{ path: 'a.b', message: 'no' }]), 't'.repeat(32))
    expect(problem.parse(sent)).toMatchObject({ status: row.status, type: `urn:platform:problem:${code}`, code })
    const received = refusalFromProblem(JSON.parse(JSON.stringify(sent)), row.status)
    expect(received).toMatchObject({ code, message: 'why', errors: [{ path: 'a.b', message: 'no' }] })
  })

  test('is distinguished from a defect', () => {
    expect(isRefusal(refuse('not_found', 'no'))).toBe(true)
    expect(isRefusal(new Error('no'))).toBe(false)
    expect(isRefusal({ code: 'not_found' })).toBe(false)
  })
})

test('a response that is not a problem document is unavailable', () => {
  for (const body of [undefined, 'oops', {}, { ...problemOf(refuse('conflict', 'x'), 't'), code: 'unheard_of' }]) {
    expect(refusalFromProblem(body, 502)).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('502'),
    })
  }
})
