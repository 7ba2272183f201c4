// Options that a run lays over its lens, and the parts of the lens that hold without them.
import { expect, test } from 'vitest'
import type * as z from 'zod'
import { list as matches } from '../../../daemon/roles/resolution/entity-match/list.ts'
import { uncertain } from '../../../daemon/roles/resolution/entity-match/uncertain.ts'
import { extract } from '../../../daemon/roles/resolution/fusion/extract.ts'
import { match } from '../../../daemon/roles/resolution/fusion/match.ts'
import { resolve } from '../../../daemon/roles/resolution/fusion/resolve.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import type { lens } from '../../../daemon/roles/resolution/lens/model.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { buildPeople, buildPersonLens, setUpResolutionSite, waitForRunEnd } from './resolution-site.ts'

const world = setUpResolutionSite()

/** Weights in bits, so that a reader can add the scores: 6 for a name, 4 for a date. */
const weightedLens = {
  ...buildPersonLens(),
  lens: 'weighed',
  fields: [
    { name: 'surname', type: 'name' as const, comparator: 'exact' as const, weights: [6, -6] },
    { name: 'date_of_birth', type: 'date' as const, comparator: 'exact' as const, weights: [4, -4] },
  ],
  prior: 0.5,
  blocking: ['surname'],
}

/** Ten people, each so often; of every second one the date is known in the first copy alone. */
function buildCopies(times: number) {
  return Array.from({ length: times }, (_, copy) =>
    buildPeople(0, 10).map(({ id, ...person }, at) => ({
      ...person,
      id: `${id}-${copy}`,
      date_of_birth: at % 2 && copy ? null : person.date_of_birth,
    })),
  ).flat()
}

async function createPersonWithLens(body: z.input<typeof lens>): Promise<CheckedClient> {
  const ann = await world().as()
  await ann.ok(create, { body })
  return ann
}

/** Bits of the matches of a run, each once. */
async function listMatchBits(ann: CheckedClient, run_id: string): Promise<number[]> {
  const { items } = await ann.ok(matches, { run_id, limit: 500 })
  return [...new Set(items.map((each) => Math.round((('score' in each && each.score.bits) || 0) * 100) / 100))].sort()
}

test('a null penalty is taken off where one record says nothing', async () => {
  const ann = await createPersonWithLens(weightedLens)
  const run_input = { lens_id: 'weighed', node_data: { east: buildCopies(2) }, accept_poor: true }
  const plain = await waitForRunEnd(ann, (await ann.ok(start, run_input)).run_id)
  expect(await listMatchBits(ann, plain.run_id)).toEqual([10, 6])
  const costly = await waitForRunEnd(ann, (await ann.ok(start, { ...run_input, null_penalty: 2.5 })).run_id)
  expect(costly).toMatchObject({ state: 'completed', null_penalty: 2.5, counts: { clusters: 10 } })
  expect(await listMatchBits(ann, costly.run_id)).toEqual([10, 3.5])
  const more = { null_penalty: 8, threshold: 1 }
  expect(await waitForRunEnd(ann, (await ann.ok(start, { ...run_input, ...more })).run_id)).toMatchObject({
    counts: { clusters: 5 },
  })
})

test('the threshold of the lens holds, until the run says another: before it matches, or after', async () => {
  const ann = await createPersonWithLens({ ...weightedLens, version: '1.1.0', threshold: 8 })
  const run_input = {
    lens_id: 'weighed',
    lens_version: '1.1.0',
    node_data: { east: buildCopies(2) },
    accept_poor: true,
  }
  expect(await waitForRunEnd(ann, (await ann.ok(start, run_input)).run_id)).toMatchObject({ counts: { clusters: 5 } })
  const lower = await waitForRunEnd(ann, (await ann.ok(start, { ...run_input, threshold: 5 })).run_id)
  expect(lower).toMatchObject({ threshold: 5, counts: { clusters: 10 } })
  const { run_id } = await ann.ok(extract, run_input)
  expect((await ann.ok(match, { run_id })).run.state).toBe('matched')
  expect((await ann.ok(resolve, { run_id, threshold: 5 })).run).toMatchObject({
    threshold: 5,
    counts: { clusters: 10 },
  })
})

test.each([
  ['connected_components', 30],
  ['one_to_one', 20],
] as const)('a line that is drawn anew joins as the lens does: %s', async (clustering, clustered) => {
  const version = `2.0.${clustered}`
  const ann = await createPersonWithLens({ ...weightedLens, version, clustering, threshold: 20 })
  const { run_id } = await ann.ok(extract, {
    lens_id: 'weighed',
    lens_version: version,
    node_data: { east: buildCopies(3) },
    accept_poor: true,
  })
  expect((await ann.ok(match, { run_id })).run.state).toBe('matched')
  const { run } = await ann.ok(resolve, { run_id, threshold: 5 })
  expect(run.counts).toMatchObject({ clusters: 10, clustered })
})

test('with text matching, a threshold counts before the match, and is refused after it', async () => {
  const body = {
    ...buildPersonLens(),
    lens: 'works',
    told_by: 'texts' as const,
    fields: [{ name: 'title', type: 'text' as const }],
  }
  const ann = await createPersonWithLens(body)
  const titled = (from: number, to: number) =>
    buildPeople(from, to).map(({ id, given_name, surname }) => ({ id, title: `${given_name} of ${surname}` }))
  const run_input = { lens_id: 'works', node_data: { east: titled(0, 30), west: titled(15, 45) } }
  const begun = await ann.ok(extract, run_input)
  const matched = await ann.ok(match, { run_id: begun.run_id })
  expect(matched.run).toMatchObject({ state: 'matched', scale: 'likeness' })
  expect(await ann.refusal(resolve, { run_id: begun.run_id, threshold: 3 })).toBe('invalid')
  expect((await ann.ok(resolve, { run_id: begun.run_id })).run).toMatchObject({ state: 'completed' })
  const { items } = await ann.ok(uncertain, { run_id: begun.run_id, limit: 500 })
  expect(items.length).toBeGreaterThan(0)
  expect(items.every(({ score }) => score.likeness !== undefined)).toBe(true)
  const worths = items.map(({ worth }) => worth)
  expect(worths).toEqual(worths.toSorted((one, other) => other - one))
  const ended = await waitForRunEnd(
    ann,
    (await ann.ok(start, { ...run_input, threshold: -5, accept_poor: true })).run_id,
  )
  expect(ended).toMatchObject({ state: 'completed', scale: 'log_odds', threshold: -5, counts: { clusters: 15 } })
})
