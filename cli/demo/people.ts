// The demo's records of people, and how its two sites resolve them over carried files without a common identifier.
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
  readonly linked: boolean
}

const data_file = 'people.csv'
/** Doubtful matches among which the demo chooses. */
const max_doubts = 20

/** Writes the sample records of the site into the folder that its daemon may read; returns the name of the file. */
export async function writePeople(
  name: 'alpha' | 'bravo',
  data_folder: string,
  tenant: string = name,
): Promise<string> {
  const { readSamplePeople } = await offline.shippedFiles()
  mkdirSync(join(data_folder, tenant), { recursive: true, mode: 0o700 })
  writeFileSync(join(data_folder, tenant, data_file), readSamplePeople(name), { mode: 0o600 })
  return data_file
}

/** Resolves the records of both sites; returns doubtful matches at home for people to decide. Throws if the sites disagree. */
export async function resolveTogether(stage: DemoStage): Promise<{ run: ApiObject; doubts: readonly DemoMatch[] }> {
  const { home, remote, printLine } = stage
  const { readLens } = await offline.lenses()
  const body = readLens('persons')
  for (const site of [home, remote])
    await site.analyst.call('resolution.lens.create', { body, classification: demoClassification })
  const exchange = await home.analyst.call('resolution.exchange.propose', {
    peer: remote.name,
    lens_id: body.lens,
    fields: ['given_name', 'surname', 'date_of_birth', 'street', 'city', 'postcode', 'email'],
    privacy: 'none',
    learns: [home.name, remote.name],
    max_set_size: 1_000,
    data: { file: data_file },
    classification: demoClassification,
  })
  const uid = String(exchange.uid)
  printLine(`${home.name} proposes to find the people whom both sites know, with the lens ${body.lens} ${body.version}`)
  await carryUntil(stage, `the proposal at ${remote.name}`, () => hasExchange(remote, uid))
  await remote.analyst.call('resolution.exchange.agree', { uid, data: { file: data_file } })
  printLine(`${remote.name} reviews the terms and agrees; none of its records left the site before`)
  const run = await waitForRun(stage, home, uid)
  const remoteRun = await waitForRun(stage, remote, uid)
  if (JSON.stringify(remoteRun.counts) !== JSON.stringify(run.counts))
    throw new CommandFailure(1, `${home.name} and ${remote.name} have different counts`)
  const input = { run_id: run.uid, limit: max_doubts }
  const { items } = await home.analyst.call('resolution.entity-match.uncertain', input)
  return { run, doubts: chooseDoubts(items as DemoMatch[]) }
}

/** Chooses the first doubt that is linked, the first that is not, and the next one of both. */
function chooseDoubts(matches: readonly DemoMatch[]): DemoMatch[] {
  const chosen = [true, false].flatMap((linked) => matches.find((match) => match.linked === linked) ?? [])
  return [...chosen, ...matches.filter((match) => !chosen.includes(match)).slice(0, 1)]
}

/** Waits until the run of an exchange has completed at a site. */
async function waitForRun(stage: DemoStage, site: DemoSite, uid: string): Promise<ApiObject> {
  let run: ApiObject = {}
  await carryUntil(stage, `the resolution at ${site.name}`, async () => {
    const { state, run_id } = await site.analyst.call('resolution.exchange.get', { uid })
    if (run_id !== undefined) run = await getRun(site, String(run_id))
    for (const ending of [state, run.state]) {
      if (ending === 'failed' || ending === 'cancelled') throw new CommandFailure(1, `the exchange ${uid} is ${ending}`)
    }
    return run.state === 'completed'
  })
  return run
}

/** Returns an empty object until the run exists: a running exchange names its run before it is created. */
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
  return (items as ApiObject[]).some((exchange) => exchange.uid === uid)
}

/** Knows the truth about the sample people: whether two records are one person, and a description of each record. */
export async function loadSampleKnowledge() {
  const { readSamplePeople } = await offline.shippedFiles()
  const linesOf = (name: 'alpha' | 'bravo' | 'truth') => readSamplePeople(name).trimEnd().split('\n').slice(1)
  const personOf = new Map(linesOf('truth').map((line) => splitLineAt(line, line.lastIndexOf(','))))
  const contentOf = new Map<string, string>()
  for (const site of ['alpha', 'bravo'] as const) {
    for (const line of linesOf(site)) {
      const [id, content] = splitLineAt(line, line.indexOf(','))
      contentOf.set(`${site},${id}`, content.split(',').filter(Boolean).join(', '))
    }
  }
  return {
    isOne: ({ left, right }: DemoMatch) => personOf.get(buildRecordKey(left)) === personOf.get(buildRecordKey(right)),
    describe: (ref: DemoRecordRef) => `${ref.node_id}/${ref.record_id}: ${contentOf.get(buildRecordKey(ref))}`,
  }
}

function splitLineAt(line: string, index: number): [string, string] {
  return [line.slice(0, index), line.slice(index + 1)]
}

function buildRecordKey({ node_id, record_id }: DemoRecordRef): string {
  return `${node_id},${record_id}`
}

/** Writes every person with more than one record, as `entity,site,record`; returns the number of people. */
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
