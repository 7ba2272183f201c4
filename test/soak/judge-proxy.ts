// Conditions on a soaked proxy: on its answers, on its memory, and on its records.
import assert from 'node:assert/strict'
import type { ProxyRecord } from '../support/proxy/packaged-proxy.ts'
import type { LoadCounts } from './proxy-load.ts'

/** Epoch milliseconds: from the kill to the next one that listens. */
export type ProcessOutage = { readonly from: number; until: number }

/** During any death behind it: a documented status, whole where it is small, and no silence while the proxy itself lives. */
export function judgeAnswers({ cut, undocumented, abandoned }: LoadCounts, deaths: readonly ProcessOutage[]): void {
  assert.deepEqual(undocumented, [], 'each answer is one of the documented')
  assert.deepEqual(
    Object.keys(cut).filter((kind) => kind !== 'large'),
    [],
    'small answers come whole',
  )
  const isOwn = (at: number) => deaths.some(({ from, until }) => at >= from && at <= until)
  const dropped = abandoned.filter((at) => !isOwn(at))
  assert.deepEqual(dropped, [], 'nothing is left without an answer while the proxy lives')
}

/** Before that a heap has not found its size. */
const min_quarter_ms = 8_000

/** `memory`: megabytes of one life. Its last quarter takes hardly more than the one before. */
export function judgeMemory(memory: readonly number[], every_ms: number): void {
  const quarter = Math.floor(memory.length / 4)
  if (quarter * every_ms < min_quarter_ms) return
  const [before, last] = [computeMedian(memory.slice(-2 * quarter, -quarter)), computeMedian(memory.slice(-quarter))]
  assert.ok(last <= 1.15 * before + 32, `memory grows: ${memory.map(Math.round).join(' ')}`)
}

/** Each answer is recorded once with its status. Of what a death left unanswered there is one record each, or none. */
export function judgeRecords({ answered, unanswered }: LoadCounts, records: readonly ProxyRecord[]): void {
  const recorded = new Map<string, number>()
  for (const { method, path, status } of records) {
    const line = `${method} ${path} ${status}`
    recorded.set(line, (recorded.get(line) ?? 0) + 1)
  }
  const spare = new Map(unanswered)
  for (const line of new Set([...answered.keys(), ...recorded.keys()])) {
    const more = (recorded.get(line) ?? 0) - (answered.get(line) ?? 0)
    assert.ok(more >= 0, `${-more} answers without a record: ${line}`)
    const requested = line.slice(0, line.lastIndexOf(' '))
    const left = (spare.get(requested) ?? 0) - more
    assert.ok(left >= 0, `${-left} records without a request: ${line}`)
    spare.set(requested, left)
  }
}

export function sumAll(of: Iterable<number>): number {
  return [...of].reduce((total, each) => total + each, 0)
}

function computeMedian(of: readonly number[]): number {
  return of.toSorted((a, b) => a - b)[Math.floor(of.length / 2)] ?? 0
}
