// The output that a server may write: enough for each answer, and bounded without one.
import { expect, test } from 'vitest'
import { OutputAllowance } from './output-allowance.ts'

const answer_bytes = 100_000

test('an answer of full size is allowed for each request, and what nobody requested is bounded', () => {
  const allowance = new OutputAllowance(answer_bytes, () => 0)
  for (let each = 0; each < 1_000; each++) {
    allowance.addRequest(each)
    allowance.takeBytes(answer_bytes)
    allowance.endRequest(each)
  }
  allowance.takeBytes(2 * answer_bytes)
  expect(() => allowance.takeBytes(1)).toThrow(/more than 200000 bytes for 0 requests/)
})

test('a response that nobody requested gives nothing', () => {
  const allowance = new OutputAllowance(answer_bytes, () => 0)
  expect(() => {
    for (;;) {
      allowance.endRequest(1)
      allowance.takeBytes(10)
    }
  }).toThrow()
})

test('short messages count as well, and each minute has its own allowance', () => {
  let now = 0
  const allowance = new OutputAllowance(answer_bytes, () => now)
  const send = () => {
    for (let each = 0; each < 700; each++) allowance.takeMessage()
  }
  send()
  now = 60_000
  send()
  expect(send).toThrow()
})

test('a request that was cancelled allows nothing any more', () => {
  const allowance = new OutputAllowance(answer_bytes, () => 0)
  for (let each = 0; each < 10; each++) {
    allowance.addRequest(each)
    allowance.cancelRequest(each)
  }
  expect(() => allowance.takeBytes(3 * answer_bytes)).toThrow(/for 0 requests/)
})
