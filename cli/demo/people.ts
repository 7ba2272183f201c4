// What the demo's sites know of people, and how they find over carried files who is who without a common identifier.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import { offline } from '../../daemon/offline/offline.ts'
import type { ApiObject } from '../client/client.ts'
import { CommandFailure } from '../program/command.ts'
import type { DemoSite } from './demo-site.ts'
import { carryUntil, type DemoStage, demoClassification } from './stage.ts'

export type DemoRecordRef = { readonly node_id: string; readonly record_id: string }
export type DemoMatch = ApiObject & {
  readonly uid: string
  readonly left: DemoRecordRef
  readonly right: DemoRecordRef
}

const data_file = 'people.csv'
/** Doubts that people are asked about. */
const max_doubts = 3

/** What a site that is called so knows, in the folder that its daemon may read. */
export async function writePeople(name: 'alpha' | 'bravo', data_folder: string): Promise<void> {
  const { readSamplePeople } = await offline.shippedFiles()
  mkdirSync(join(data_folder, name), { recursive: true, mode: 0o700 })
  writeFileSync(join(data_folder, name, data_file), readSamplePeople(name), { mode: 0o600 })
}

/** Both sites come to the same matches; the ones at home are given, those first that a decision is worth most for. */
export async function resolveTogether(stage: DemoStage): Promise<{ run: ApiObject; doubts: readonly DemoMatch[] }> {
  const { home, guest, say } = stage
  const { readLens } = await offline.lenses()
  const body = readLens('persons')
  for (const site of [home, guest])
    await site.analyst.call('resolution.lens.create', { body, classification: demoClassification })
  const exchange = await home.analyst.call('resolution.exchange.propose', {
    peer: guest.name,
    lens_id: body.lens,
    fields: ['given_name', 'surname', 'date_of_birth', 'street', 'city', 'postcode', 'email'],
    privacy: 'none',
    learns: [home.name, guest.name],
    max_set_size: 1_000,
    data: { file: data_file },
    classification: demoClassification,
  })
  const uid = String(exchange.uid)
  say(`${home.name} proposes to find out which people both know, by the lens ${body.lens} ${body.version}`)
  await carryUntil(stage, `the proposal at ${guest.name}`, () => hasExchange(guest, uid))
  await guest.analyst.call('resolution.exchange.agree', { uid, data: { file: data_file } })
  say(`${guest.name} has looked at the terms and agrees; nothing of its records had left it before`)
  const run = await waitForRun(stage, home, uid)
  const theirs = await waitForRun(stage, guest, uid)
  if (JSON.stringify(theirs.counts) !== JSON.stringify(run.counts))
    throw new CommandFailure(1, `${home.name} and ${guest.name} have come to different counts`)
  const asked = { run_id: run.uid, limit: max_doubts }
  const { items } = await home.analyst.call('resolution.entity-match.uncertain', asked)
  return { run, doubts: items as DemoMatch[] }
}

/** The run of an exchange at a site, once it has come to its end there. */
async function waitForRun(stage: DemoStage, site: DemoSite, uid: string): Promise<ApiObject> {
  let run: ApiObject = {}
  await carryUntil(stage, `${site.name} to know who is who`, async () => {
    const { state, run_id } = await site.analyst.call('resolution.exchange.get', { uid })
    if (run_id !== undefined) run = await getRun(site, String(run_id))
    for (const ending of [state, run.state]) {
      if (ending === 'failed' || ending === 'cancelled') throw new CommandFailure(1, `the exchange ${uid} is ${ending}`)
    }
    return run.state === 'completed'
  })
  return run
}

/** Empty while it is about to begin: an exchange that runs names its run before that is made. */
async function getRun(site: DemoSite, uid: string): Promise<ApiObject> {
  try {
    return await site.analyst.call('resolution.fusion-run.get', { uid })
  } catch (error) {
    if (isRefusal(error) && error.code === 'not_found') return {}
    throw error
  }
}

async function hasExchange(site: DemoSite, uid: string): Promise<boolean> {
  const { items } = await site.analyst.call('resolution.exchange.list', {})
  return (items as ApiObject[]).some((each) => each.uid === uid)
}

/** What those would say who know the people: whether two records are one person, and what a record says. */
export async function loadSampleKnowledge() {
  const { readSamplePeople } = await offline.shippedFiles()
  const linesOf = (name: 'alpha' | 'bravo' | 'truth') => readSamplePeople(name).trimEnd().split('\n').slice(1)
  const personOf = new Map(linesOf('truth').map((line) => splitLineAt(line, line.lastIndexOf(','))))
  const saidOf = new Map<string, string>()
  for (const site of ['alpha', 'bravo'] as const) {
    for (const line of linesOf(site)) {
      const [id, said] = splitLineAt(line, line.indexOf(','))
      saidOf.set(`${site},${id}`, said.split(',').filter(Boolean).join(', '))
    }
  }
  return {
    isOne: ({ left, right }: DemoMatch) => personOf.get(buildRecordKey(left)) === personOf.get(buildRecordKey(right)),
    told: (ref: DemoRecordRef) => `${ref.node_id}/${ref.record_id}: ${saidOf.get(buildRecordKey(ref))}`,
  }
}

function splitLineAt(line: string, at: number): [string, string] {
  return [line.slice(0, at), line.slice(at + 1)]
}

function buildRecordKey({ node_id, record_id }: DemoRecordRef): string {
  return `${node_id},${record_id}`
}

/** Every person with more than one record, as `entity,site,record`. How many people. */
export async function writeEntities(site: DemoSite, file: string): Promise<number> {
  const lines = ['entity,site,record']
  let entities = 0
  let cursor: string | undefined
  do {
    const page = await site.analyst.call('resolution.entity-cluster.list', {
      limit: 500,
      ...(cursor === undefined ? {} : { cursor }),
    })
    for (const { uid, members } of page.items as { uid: string; members: DemoRecordRef[] }[]) {
      entities++
      for (const { node_id, record_id } of members) lines.push([uid, node_id, record_id].join(','))
    }
    cursor = page.next_cursor as string | undefined
  } while (cursor !== undefined)
  writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 })
  return entities
}
