// The time of a failure in its signal is never ahead of the site.
import { expect, test } from 'vitest'
import { causeOfReport } from './failure-cause.ts'

const at = '2026-03-02T12:00:00.000Z'
const label = { policy: 'SITE', level: 'UNCLASSIFIED', categories: [], originator: 'alpha' }
const provenance = { tenant_id: 'alpha', label, created_by: 'ann', created_at: at, updated_at: at }
const report = { ...provenance, pipeline: 'pl_1', dag_id: 'people', dag_run_id: 'scheduled__1' }

test('a failure has the time of its end, or that of now where the clock was set back since', () => {
  const detectedAt = (now: string) =>
    causeOfReport({ id: 'pl_1.scheduled__1', version: 1, value: report }, now).detected_at
  expect(detectedAt('2026-03-05T12:00:00.000Z')).toBe(at)
  expect(detectedAt('2026-02-01T12:00:00.000Z')).toBe('2026-02-01T12:00:00.000Z')
})
