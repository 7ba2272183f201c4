// Audit records by verdict, status, rule, source and time: over segments of any version, and over few of many.
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { segmentMarks, shippedSegments } from '../../../daemon/roles/proxy/record/model.ts'
import { marks_version } from '../../../daemon/roles/proxy/record/segment-marks.ts'
import {
  expectFilteredRecords,
  listRecords,
  proxySections,
  recordEntries,
  recordSegments,
  shipSegments,
} from '../../support/proxy/record-filters.ts'
import { startTestSite, type TestSite } from '../../support/site/test-site.ts'

let site: TestSite
beforeAll(async () => {
  site = await startTestSite({ profile: proxySections, template: 'single-cluster' })
  await shipSegments(site, recordSegments)
})
afterAll(() => site?.end())

test('each filter finds exactly what it means', () => expectFilteredRecords(site))

test('a list by time and status reads a few of many segments', async () => {
  const get = vi.spyOn(site.store('proxy'), 'get')
  const list = vi.spyOn(site.store('proxy'), 'list')
  try {
    const at = (recordEntries[0]?.at ?? 0) + 400
    const filter = { until: new Date(at).toISOString(), status: 429 }
    const { items, pages } = await listRecords(site, filter, 500)
    expect([items.length > 0, pages]).toEqual([true, 1])
    const segments = get.mock.calls.filter(([from]) => from.name === shippedSegments.name)
    expect(segments.length).toBeGreaterThan(0)
    const refused = await listRecords(site, { status: 503 }, 500)
    expect([refused.items, refused.pages]).toEqual([[], 1])
    const read = list.mock.calls.filter(([from]) => from.name === shippedSegments.name)
    // The end of the unmarked segments, and none of their lines.
    expect(read.every(([, { limit }]) => limit <= 2)).toBe(true)
  } finally {
    vi.restoreAllMocks()
  }
})

test('segments that an earlier version stored, without these marks, are read for them', async () => {
  const store = site.store('proxy')
  const { docs: segments } = await store.list(shippedSegments, { filter: { marks_version }, limit: 500 })
  const older = segments.filter(({ value }) => (value.until ?? 0) < (recordEntries[140]?.at ?? 0))
  expect(older.length).toBeGreaterThan(5)
  for (const { id, value } of older) {
    const { marks_version: _, ...former } = value
    await store.update(shippedSegments, id, () => ({ next: former, answer: undefined }))
    const isAdded = (mark: string) => /^(status|rule) /.test(mark) || mark === 'long'
    const { docs: marks } = await store.list(segmentMarks, { limit: 500 })
    for (const mark of marks.filter((each) => each.value.segment === id && isAdded(each.value.mark)))
      await store.remove(segmentMarks, mark.id)
  }
  await expectFilteredRecords(site)
})
