// Kills a packaged gateway while it observes, learns and is administered: graphs hold each stored observation once, and no change that an
// administrator was answered is lost.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { sqliteAudit } from '../../adapters/store/sqlite/audit/audit.ts'
import { sqliteFile } from '../../adapters/store/sqlite/sqlite-file.ts'
import { sqliteStore } from '../../adapters/store/sqlite/store.ts'
import { roleDatabaseFile, siteFolder } from '../../daemon/boot/storage/site-folder.ts'
import {
  type Artifact,
  artifactHistory,
  artifacts,
  versionId,
} from '../../daemon/roles/gateway/guide/artifact/model.ts'
import { artifactCollections } from '../../daemon/roles/gateway/guide/artifact-operations.ts'
import { graphHeads, head_id } from '../../daemon/roles/gateway/guide/graph/head-model.ts'
import { observations } from '../../daemon/roles/gateway/guide/observation/model.ts'
import { foldObservations, listStored, withoutTimes } from '../roles/gateway/guide/fold-observations.ts'
import { copyOf, guideCollections, startGuide } from '../roles/gateway/guide/graph-world.ts'
import { findFreePorts } from '../support/engines/server-process.ts'
import { buildArtifact } from '../support/guide/artifacts.ts'
import { createPackagedSite, type PackagedSite, type ServedSite } from '../support/site/packaged-site.ts'
import { waitUntil } from '../support/site/test-site.ts'

const kills = 3
/** Envelopes that are accepted, and changes that are answered, before each kill. */
const [envelopes_between, changes_between] = [300, 3]
const victim = 'artifact_0123'

let site: PackagedSite
let env: Readonly<Record<string, string>>
let url: string
let tokens: { readonly ann: string; readonly ada: string }
let served: ServedSite | undefined

function openStore() {
  const folder = siteFolder(site.dir)
  const file = sqliteFile({ file: roleDatabaseFile(folder, 'gateway'), addonDir: path.dirname(folder.profile) })
  const collections = [...guideCollections, ...artifactCollections]
  return sqliteStore(file, { audit: sqliteAudit(file, 'gateway@alpha'), collections, freeze: true })
}

beforeAll(async () => {
  site = createPackagedSite('single-cluster')
  const [port = 0] = await findFreePorts(1)
  const profile = parse(readFileSync(site.profile, 'utf8'))
  writeFileSync(site.profile, stringify({ ...profile, gateway: { ...profile.gateway, port } }))
  env = { PLATFORM_ROLES: 'site,gateway', SITE_PORT: '0' }
  url = `http://127.0.0.1:${port}`
  const mint = (subject: string, roles: string) =>
    site.run(['token', 'mint', '--subject', subject, '--roles', roles, '--clearance', 'SECRET'], env).stdout.trim()
  tokens = { ann: mint('ann', 'analyst'), ada: mint('ada', 'admin') }
  served = await site.serve(env)
  await served.stop()
  const store = openStore()
  await store.create(artifacts, victim, buildArtifact('PromptShim', { tenant_id: 'acme', status: 'proposed' }))
  await store.close()
})
afterAll(async () => {
  await served?.kill()
  site?.remove()
})

type Answer = { readonly status: number; readonly json: Readonly<Record<string, unknown>> }

/** Undefined where the process was not there, or went away. */
async function send(who: keyof typeof tokens, line: string, body: unknown): Promise<Answer | undefined> {
  const [method = '', at] = line.split(' ')
  try {
    const headers = { authorization: `Bearer ${tokens[who]}`, 'content-type': 'application/json' }
    const response = await fetch(`${url}/api/v1/guide/${at}`, { method, headers, body: JSON.stringify(body) })
    return { status: response.status, json: (await response.json()) as Answer['json'] }
  } catch {
    return undefined
  }
}

/** Turns of three events, of which two are of traces that began in the batch before. */
function buildBatch(at: number) {
  return Array.from({ length: 20 }, (_, n) => {
    const turn = Math.floor((at * 20 + n) / 3)
    const of = {
      trace_id: (turn + 1).toString(16).padStart(32, '0'),
      timestamp: new Date(at * 1_000 + n).toISOString(),
    }
    const conversation_id = `c${turn % 5}`
    if (n % 3 === 0)
      return {
        ...of,
        conversation_id,
        event_type: 'user_prompt',
        service: 'gateway',
        payload: { prompt: `list ships ${turn % 7}` },
      }
    if (n % 3 === 1)
      return {
        ...of,
        event_type: turn % 4 ? 'tool_output' : 'tool_error',
        service: 'maps',
        payload: { tool: `t${turn % 6}` },
      }
    return { ...of, conversation_id, event_type: 'final_response', service: 'gateway', payload: { outcome: 'success' } }
  })
}

test('graphs are the fold of what is stored, and no answered change is lost', async () => {
  let accepted = 0
  const seeds = new Set<string>()
  const versions = new Map<number, string>()
  const ending = new AbortController()
  const observe = async () => {
    for (let at = 0; !ending.signal.aborted; at += 1) {
      const answer = await send('ann', 'POST observations', { observations: buildBatch(at) })
      if (answer?.status === 202) accepted += Number(answer.json.accepted)
    }
  }
  const administer = async () => {
    for (let at = 0; !ending.signal.aborted; at += 1) {
      const seeded = await send('ada', 'POST memories', {
        event_type: 'user_prompt',
        service: 'gateway',
        payload: { prompt: `seed ${at}` },
      })
      if (seeded?.status === 201) seeds.add(String(seeded.json.memory_id))
      const notes = `change ${at}`
      const changed = await send('ada', `PATCH artifacts/${victim}`, { notes })
      if (changed?.status === 200) versions.set(Number(changed.json.version), notes)
    }
  }
  served = await site.serve(env)
  const work = [observe(), administer()]
  for (let kill = 0; kill < kills; kill += 1) {
    const [events, changes] = [accepted, versions.size]
    await waitUntil(() => accepted >= events + envelopes_between && versions.size >= changes + changes_between)
    await served.kill()
    served = await site.serve(env)
  }
  ending.abort()
  await Promise.all(work)
  expect(await served.stop()).toBe(0)
  const store = openStore()
  const stored = await listStored(store)
  const head = await store.get(graphHeads, head_id)
  expect(head?.value.state).toBe('done')
  // Accepted is not stored: what waits in memory goes with the process. It is never stored twice.
  expect(new Set(stored.map(({ dedup_key }) => dedup_key)).size).toBe(stored.length)
  expect(stored.length).toBeGreaterThan(envelopes_between)
  const { book, call } = startGuide(store)
  await book.catchUp(call, head?.value.seq ?? 0)
  expect(withoutTimes(copyOf(book))).toEqual(withoutTimes(await foldObservations(stored)))
  for (const id of seeds) expect(await store.get(observations, id)).toBeDefined()
  const current = (await store.get(artifacts, victim))?.value as Artifact
  for (const [version, notes] of versions) {
    const kept =
      version === current.version ? current : (await store.get(artifactHistory, versionId(victim, version)))?.value
    expect(kept, `version ${version}`).toMatchObject({ version, notes })
  }
  const history = await store.count(artifactHistory, { artifact_id: victim, version: { lt: current.version } })
  expect(history).toBe(current.version - 1)
  await store.close()
})
