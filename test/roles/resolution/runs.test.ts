// Runs: from records to clusters by the service, at once and phase by phase.
import { expect, test } from 'vitest'
import { create as arrive } from '../../../daemon/roles/resolution/arrival/create.ts'
import { list as clusters } from '../../../daemon/roles/resolution/entity-cluster/list.ts'
import { consult } from '../../../daemon/roles/resolution/entity-match/consult.ts'
import { explain } from '../../../daemon/roles/resolution/entity-match/explain.ts'
import { list as matches } from '../../../daemon/roles/resolution/entity-match/list.ts'
import { extract } from '../../../daemon/roles/resolution/fusion/extract.ts'
import { match } from '../../../daemon/roles/resolution/fusion/match.ts'
import { resolve } from '../../../daemon/roles/resolution/fusion/resolve.ts'
import { cancel } from '../../../daemon/roles/resolution/fusion-run/cancel.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { summary } from '../../../daemon/roles/resolution/fusion-run/summary.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import { list as bindings } from '../../../daemon/roles/resolution/lens-binding/list.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { buildPeople, buildPersonLens, setUpResolutionSite, waitForRunEnd } from './resolution-site.ts'

const world = setUpResolutionSite()

test('a run finds who is who among the records of two nodes', async () => {
  const ann = await world().as()
  await ann.ok(create, { body: buildPersonLens('1.0.0') })
  const begun = await ann.ok(start, {
    lens_id: 'people',
    node_data: { east: buildPeople(0, 60), west: buildPeople(30, 90) },
  })
  expect(begun).toMatchObject({ state: 'pending', goal: 'completed', lens_version: '1.0.0', created_by: 'ann' })
  const run = await waitForRunEnd(ann, begun.run_id)
  expect(run).toMatchObject({
    state: 'completed',
    route: 'links',
    scale: 'log_odds',
    counts: { records: 120, entities: 90, clusters: 30, clustered: 60 },
  })
  expect(run.quality).toMatchObject({
    verdict: 'fair',
    links: 30,
    route_reason: 'clean_sources',
    prior: { learnt_from: 'competition' },
    doubtful: { count: 0, worst: [] },
  })
  const { text } = await ann.ok(summary, { run_id: run.uid })
  expect(text).toMatch(
    /Estimated quality: fair: about .* of the matches found are right, .*\. Method: neither of the two sources/,
  )
  expect(run.sources).toMatchObject([
    {
      node_id: 'east',
      records: 60,
      columns: { given_name: 'given_name', surname: 'surname', date_of_birth: 'date_of_birth' },
    },
    { node_id: 'west', records: 60 },
  ])
  const { items } = await ann.ok(clusters, { run_id: run.uid, limit: 500 })
  expect(items).toHaveLength(30)
  const found = await ann.ok(matches, { run_id: run.uid, limit: 500 })
  expect(found.items.filter(({ linked }) => linked)).toHaveLength(30)
  expect(found.items.length).toBe(run.counts.matches)
})

test('phase by phase it comes to the same', async () => {
  const ann = await world().as()
  const { run_id } = await ann.ok(extract, {
    lens_id: 'people',
    node_data: { east: buildPeople(0, 60), west: buildPeople(30, 90) },
  })
  const matched = await ann.ok(match, { run_id })
  expect(matched.run).toMatchObject({ state: 'matched', quality: { verdict: 'fair', links: 30 } })
  expect(matched.items.length).toBeGreaterThan(29)
  const [first] = matched.items
  const explained = await ann.ok(explain, { correlation_id: first?.uid ?? '' })
  expect(explained.found_by).toEqual(['given_name: whole'])
  expect(explained.text).toContain('Found by given_name: whole.')
  expect(explained.bits).toBeCloseTo(first?.score.bits ?? Number.NaN, 9)
  const resolved = await ann.ok(resolve, { run_id })
  const { quality } = matched.run
  expect(resolved.run).toMatchObject({ state: 'completed', counts: { entities: 90, clusters: 30 }, quality })
  expect(resolved.items).toHaveLength(30)
  expect(await ann.refusal(cancel, { run_id })).toBe('wrong_state')
})

test('without the role consensus nothing is put to it, and the refusal names the remedy', async () => {
  const ann = await world().as()
  const policy = { m: 1, n: 1 }
  const refused = await ann.call(consult, { correlation_id: 'match_1', policy })
  expect(refused.problem).toMatchObject({
    code: 'wrong_state',
    detail: expect.stringContaining('add it to platform.roles'),
  })
  const range = { from: 0, to: 1, policy }
  const run = await ann.call(start, { lens_id: 'people', node_data: { east: buildPeople(0, 5) }, consensus: range })
  expect(run.problem?.errors).toMatchObject([
    { path: 'consensus', message: expect.stringContaining('add it to platform.roles') },
  ])
})

test('the columns that a run reads of a node are visible to every reader of the run', async () => {
  const ann = await world().as()
  const low = await world().as({ subject: 'low', clearance: { level: 'UNCLASSIFIED' } })
  await ann.ok(create, { body: { ...buildPersonLens(), lens: 'shared' }, classification: 'UNCLASSIFIED' })
  const input = {
    lens_id: 'shared',
    node_data: { hidden: buildPeople(0, 20) },
    classification: 'SECRET',
    accept_poor: true,
  }
  const { run_id } = await ann.ok(start, input)
  await waitForRunEnd(ann, run_id)
  const query = { lens: 'shared', dataset: 'hidden' }
  expect((await ann.ok(bindings, query)).items).toMatchObject([{ run_id, classification: { level: 'SECRET' } }])
  expect((await low.ok(bindings, query)).items).toEqual([])
})

test('a match by texts is explained by its similarity, and arrivals by the keys that found them', async () => {
  const ann = await world().as()
  const fields = ['title', 'authors'].map((name) => ({ name, type: 'text' as const }))
  const body = {
    lens: 'works',
    version: '1.0.0',
    entity_type: 'work',
    told_by: 'texts' as const,
    text_evidence: 0.02,
    fields,
  }
  await ann.ok(create, { body })
  const papers = (node: string) =>
    buildPeople(0, 40).map(({ id, given_name, surname, date_of_birth }) => ({
      id,
      title: `${given_name} and ${surname} in the year ${date_of_birth.slice(0, 4)} ${node}`,
      authors: `${surname} ${given_name}`,
    }))
  const { run_id } = await ann.ok(start, { lens_id: 'works', node_data: { east: papers('one'), west: papers('two') } })
  expect(await waitForRunEnd(ann, run_id)).toMatchObject({ state: 'completed', scale: 'likeness' })
  const found = await ann.ok(matches, { run_id, limit: 500 })
  for (const { uid, score } of found.items.slice(0, 20)) {
    const { likeness, text_likeness, steps, ...explained } = await ann.ok(explain, { correlation_id: uid })
    expect(explained).toMatchObject({ bits: null, probability: null, prior_bits: null, found_by: ['nearest texts'] })
    expect(likeness).toBeCloseTo(score.likeness ?? Number.NaN, 9)
    const raised = steps.reduce((sum, { bits, frequency_bits }) => sum + bits + frequency_bits, 0) * 0.02 * Math.LN2
    expect((text_likeness ?? 0) + raised).toBeCloseTo(score.likeness ?? Number.NaN, 9)
    expect(steps.at(-1)).toMatchObject({ total_bits: null, total_likeness: likeness })
  }
  const [known] = papers('one')
  await ann.ok(arrive, { lens_id: 'works', node_id: 'north', records: [{ ...known, id: 'n1' }] })
  const arrived = await waitUntil(async () => {
    const { items } = await ann.ok(matches, { lens: 'works', limit: 500 })
    return items.find(({ left, right }) => left.record_id === 'n1' || right.record_id === 'n1')
  })
  const explained = await ann.ok(explain, { correlation_id: arrived.uid })
  expect(explained.bits).toBeCloseTo(arrived.score.bits ?? Number.NaN, 9)
  expect(explained.found_by.length).toBeGreaterThan(0)
  expect(explained).toMatchObject({ likeness: null, text_likeness: null })
  for (const key of explained.found_by) expect(key).toMatch(/^(title|authors): (whole|first 8)$/)
})
