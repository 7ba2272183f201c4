// Checks the metrics adapter against the text format and its declarations.
import { describe, expect, test } from 'vitest'
import { counter, gauge, histogram, type Metric } from '../../../daemon/kernel/telemetry/metrics.ts'
import { prometheusMetrics } from './prometheus-metrics.ts'

const votes = counter('votes_total', 'Votes.', { side: 'names', outcome: 'names' })
const queue = gauge('queue_length', 'Waiting.', {})
const seconds = histogram('work_seconds', 'Time.', { step: ['read', 'write'] }, [0.1, 1])

describe('declared metrics', () => {
  test('are printed with help, type and labels', async () => {
    const metrics = prometheusMetrics([votes, queue, seconds], { strict: true })
    metrics.count(votes, { side: 'left', outcome: 'yes' })
    metrics.count(votes, { outcome: 'yes', side: 'left' }, 2)
    metrics.set(queue, {}, 7)
    metrics.observe(seconds, { step: 'read' }, 0.5)
    const text = await metrics.text()
    expect(text).toContain('# HELP votes_total Votes.\n# TYPE votes_total counter\n')
    expect(text).toMatch(/votes_total\{side="left",outcome="yes"\} 3\n/)
    expect(text).toContain('queue_length 7\n')
    expect(text).toMatch(/work_seconds_bucket\{le="0\.1",step="read"\} 0\n/)
    expect(text).toMatch(/work_seconds_bucket\{le="1",step="read"\} 1\n/)
    expect(text).toContain('work_seconds_count{step="read"} 1\n')
  })

  test('keep sets of label values apart, also when a value contains a separator', async () => {
    const metrics = prometheusMetrics([votes])
    metrics.count(votes, { side: 'a', outcome: 'b.c' })
    metrics.count(votes, { side: 'a.b', outcome: 'c' })
    expect((await metrics.text()).match(/^votes_total\{/gm)).toHaveLength(2)
  })

  test('are counted apart in two registries of one process', async () => {
    const [one, other] = [prometheusMetrics([queue]), prometheusMetrics([queue])]
    one.set(queue, {}, 3)
    expect(await other.text()).toContain('queue_length 0\n')
  })

  test('include the metrics of the process where enabled', async () => {
    const text = await prometheusMetrics([queue], { process: true }).text()
    expect(text).toContain('process_resident_memory_bytes')
    expect(text).toContain('nodejs_eventloop_lag_seconds')
    expect(await prometheusMetrics([queue]).text()).not.toContain('nodejs_')
  })
})

test('a metric that is not declared, or as another kind, is not counted, and is reported once', async () => {
  const reported: string[] = []
  const metrics = prometheusMetrics([votes], { onUndeclared: (metric) => void reported.push(metric) })
  for (let turn = 0; turn < 2; turn++) {
    metrics.set(queue, {}, 7)
    metrics.count({ ...seconds, kind: 'counter' }, { step: 'read' })
    metrics.count(votes, { side: 'left', outcome: 'yes' })
  }
  expect(reported).toEqual(['queue_length', 'work_seconds'])
  expect(await metrics.text()).not.toMatch(/queue_length|work_seconds/)
})

describe('values that a label does not have', () => {
  test('are counted together as other, and leave nothing behind', async () => {
    const metrics = prometheusMetrics([votes, seconds])
    for (const side of ['two words', '', 'é', 'x'.repeat(129), 'a"b', 'a\nb']) {
      metrics.count(votes, { side, outcome: 'yes' })
      metrics.observe(seconds, { step: `of ${side}` }, 1)
    }
    const text = await metrics.text()
    expect(text.match(/^votes_total\{.*$/gm)).toEqual(['votes_total{side="other",outcome="yes"} 6'])
    expect(text).toContain('work_seconds_count{step="other"} 6\n')
  })

  test('beyond the limit of series are counted as other, whatever the names', async () => {
    const metrics = prometheusMetrics([votes])
    for (let count = 0; count < 5_000; count++) metrics.count(votes, { side: `n${count}`, outcome: 'yes' })
    const lines = (await metrics.text()).match(/^votes_total\{.*$/gm) ?? []
    expect(lines).toHaveLength(2_001)
    expect(lines).toContain('votes_total{side="other",outcome="other"} 3000')
  })

  test('throw where strict', () => {
    const strict = prometheusMetrics([seconds], { strict: true })
    expect(() => strict.observe(seconds, { step: 'of a caller' }, 1)).toThrow(TypeError)
  })
})

describe('a programming error', () => {
  const strict = prometheusMetrics([votes], { strict: true })
  const wrongLabels = votes as Metric<string>
  test.each([
    ['an undeclared metric', () => strict.set(queue, {}, 1)],
    ['a missing label', () => strict.count(wrongLabels, { side: 'left' })],
    ['an unknown label', () => strict.count(wrongLabels, { side: 'a', outcome: 'b', extra: 'c' })],
    ['a label by another name', () => strict.count(wrongLabels, { side: 'a', result: 'c' })],
    ['another kind', () => strict.observe(wrongLabels, { side: 'a', outcome: 'b' }, 1)],
  ])('%s throws where strict', (_what, wrong) => {
    expect(wrong).toThrow(TypeError)
  })

  test('never fails a request where not strict', async () => {
    const metrics = prometheusMetrics([votes])
    metrics.set(queue, {}, 1)
    metrics.count(wrongLabels, { side: 'left' })
    expect(await metrics.text()).not.toMatch(/^votes_total\{/m)
  })

  test('declaring one name twice throws', () => {
    expect(() => prometheusMetrics([votes, votes])).toThrow(/already been registered/)
  })
})
