// In classified_airgapped a channel without accreditation is neither sent on nor listened to, at the start and while it runs.
import * as fs from 'node:fs'
import * as http from 'node:http'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { peerFiles } from '../../adapters/peers/files/peer-files.ts'
import { messageName, partFileName } from '../../adapters/transport/filedrop/files/message-name.ts'
import { roleSocketFile } from '../../daemon/boot/storage/site-folder.ts'
import { auditRecord } from '../../daemon/kernel/audit/audit-chain.ts'
import { enrolChannels } from '../../daemon/offline/filedrop/filedrop-files.ts'
import { contribute as federate } from '../../daemon/roles/consensus/federation/contribute.ts'
import { cancel } from '../../daemon/roles/consensus/session/cancel.ts'
import { create } from '../../daemon/roles/consensus/session/create.ts'
import { get } from '../../daemon/roles/consensus/session/get.ts'
import { list as listSessions } from '../../daemon/roles/consensus/session/list.ts'
import { list as listChannels } from '../../daemon/roles/site/channel/list.ts'
import { send } from '../../daemon/roles/site/message/send.ts'
import { verify } from '../../daemon/roles/site/message/verify.ts'
import { list as listPeers } from '../../daemon/roles/site/peer/list.ts'
import { buildSessionInput, createOperator, waitUntilDelivered } from '../roles/consensus/consensus-site.ts'
import { buildOpinionFields, createCarrier } from '../roles/consensus/federated-session.ts'
import { createPeerSite, sharedClassification, sharedLabel } from '../roles/consensus/peer-site.ts'
import { noon } from '../support/clock/simulated-clock.ts'
import { runCommand } from '../support/command/run-command.ts'
import {
  createTestSite,
  startTestSite,
  type TestSite,
  type TestSiteOptions,
  waitUntil,
} from '../support/site/test-site.ts'

const [bravo, charlie, delta] = [
  await createPeerSite('bravo', 'tenant-b'),
  await createPeerSite('charlie', 'tenant-c'),
  await createPeerSite('delta', 'tenant-b'),
]
afterAll(() => {
  for (const peer of [bravo, charlie, delta]) peer.remove()
})

const buildAccreditation = (valid_until: string) => ({ authority: 'Board', reference: 'AB-1', valid_until })

/** Bravo until the end of today, delta for years; charlie has none. */
function buildOptions(accreditations: Record<string, unknown>): TestSiteOptions {
  return {
    template: 'classified-airgapped',
    peers: [bravo.pinned, delta.pinned],
    profile: {
      site: { metrics_listen: '127.0.0.1:0', accreditations },
      consensus: { metrics_listen: '127.0.0.1:0' },
      filedrop: { rescan_ms: 100 },
    },
  }
}

/** In this profile they are inside only: here over the role's own socket. */
function readMetrics(world: TestSite, token: string): Promise<string> {
  const socketPath = roleSocketFile(world.folder, 'site')
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    const request = http.get({ socketPath, path: '/metrics', headers, agent: false }, (answer) => {
      let text = ''
      answer.on('data', (part: Buffer) => (text += part.toString()))
      answer.on('end', () => resolve(text))
    })
    request.once('error', reject)
  })
}

test('the start is refused, by exit 3 and with the setting that is missing', async () => {
  const world = await createTestSite(buildOptions({ delta: buildAccreditation('2099-12-31') }))
  await expect(world.start()).rejects.toMatchObject({
    name: 'StartRefusal',
    problems: [{ path: 'site.accreditations.bravo', message: expect.stringContaining('it has no accreditation') }],
  })
  const { exit, stdout, stderr } = await runCommand(['serve', '--site', path.dirname(world.folder.profile)])
  expect({ exit, stdout }).toEqual({ exit: 3, stdout: '' })
  expect(stderr).toMatch(
    /the start checks refuse to start the site\n\s+site\.accreditations\.bravo: .*no accreditation/,
  )
  expect(stderr).not.toMatch(/site\.accreditations\.delta|\n\s+at /)
  await world.end()
})

describe('while it runs', () => {
  let world: TestSite
  beforeAll(async () => {
    world = await startTestSite(
      buildOptions({ bravo: buildAccreditation('2026-03-02'), delta: buildAccreditation('2099-12-31') }),
    )
    await enrolChannels(world.folder, {}, charlie.pinned)
    await peerFiles(world.folder.peers).add(charlie.pinned)
  })
  afterAll(() => world?.end())

  const incoming = (peer: string) => path.join(world.folder.filedrop, peer, 'in', 'new')
  let dropped = 0

  /** Not a message: a listening site quarantines it with the next scan. */
  function drop(peer: string): string {
    dropped += 1
    const name = `unexpected-${dropped}.txt`
    fs.writeFileSync(path.join(incoming(peer), name), 'x')
    return name
  }
  const isGone = (peer: string, name: string) => !fs.existsSync(path.join(incoming(peer), name))

  /** Two scans of all channels have begun and ended once delta's have: all are triggered together. */
  async function afterScans(): Promise<void> {
    for (let times = 0; times < 2; times++) {
      const name = drop('delta')
      await waitUntil(() => isGone('delta', name))
    }
  }

  async function placeMessage(peer: typeof charlie): Promise<string[]> {
    const { envelope, body } = await peer.message(
      'contribution',
      buildOpinionFields('ses_02b19846c7934e219c6e21962a7d2de5', 0.9),
      {
        epoch: 1,
        seq: 1,
      },
    )
    const { stem } = messageName(1, 1)
    const [bodyFile, envFile] = [partFileName(stem, 'body'), partFileName(stem, 'env')]
    fs.writeFileSync(path.join(incoming(peer.name), bodyFile), Buffer.from(body, 'base64url'))
    fs.writeFileSync(path.join(incoming(peer.name), envFile), JSON.stringify(envelope))
    return [bodyFile, envFile]
  }

  const message = (peer: string, event_id: string) => ({
    ...{ peer, event_id, kind: 'result' as const, schema: 'consensus.result/1', body: { n: 1 }, label: sharedLabel },
    parent_block_ids: [],
  })
  const createSender = () => world.as({ subject: 'role:consensus', roles: ['service'], tenant: '*' })
  const sending = async (peer: string, event_id: string) => (await createSender()).call(send, message(peer, event_id))
  const channels = async () => {
    const { items } = await (await createOperator(world)).ok(listChannels, {})
    return Object.fromEntries(
      items.map(({ peer, direction, state, detail }) => [`${peer} ${direction}`, [state, detail]]),
    )
  }
  const ready = (peer: string) => fs.readdirSync(path.join(world.folder.filedrop, peer, 'out', 'ready'))
  /** Delta's messages go by the same carrier; once they are out, bravo's would be too. */
  async function afterPublishing(event_id: string): Promise<void> {
    const before = ready('delta').length
    expect((await sending('delta', event_id)).status).toBe(202)
    await waitUntil(() => ready('delta').length > before)
  }

  test('a peer pinned meanwhile, without accreditation, is not among the peers', async () => {
    const { items } = await (await createOperator(world)).ok(listPeers, {})
    expect(items.map(({ name }) => name)).toEqual(['bravo', 'delta'])
    await afterScans()
    expect(Object.keys(await channels()).filter((name) => name.startsWith('charlie'))).toEqual([])
  })

  test('nothing is sent to it, and nothing is promised', async () => {
    const { status, problem } = await sending('charlie', 'to-charlie')
    expect([status, problem?.code, problem?.detail]).toEqual([
      503,
      'unavailable',
      'the channel to charlie may not be used: it has no accreditation',
    ])
    const operator = await createOperator(world)
    const invited = { ...buildSessionInput({ m: 1, n: 2 }), classification: sharedClassification, invite: ['charlie'] }
    expect(await operator.refusal(create, invited)).toBe('unavailable')
    expect((await operator.ok(listSessions, {})).items).toEqual([])
  })

  test('nothing of it is read: its files stay where they are, and its signature counts for nothing', async () => {
    const names = [drop('charlie'), ...(await placeMessage(charlie))].sort()
    await afterScans()
    expect(fs.readdirSync(incoming('charlie')).sort()).toEqual(names)
    const signed = await charlie.message(
      'contribution',
      buildOpinionFields('ses_02b19846c7934e219c6e21962a7d2de5', 0.9),
    )
    expect(await (await createCarrier(world)).refusal(federate, signed)).toBe('unavailable')
  })

  test('evidence or a quoted message in its name is refused for good: an accredited peer may have named it', async () => {
    const { envelope } = await charlie.message('contribution', {})
    const service = await createSender()
    for (const type of ['evidence', 'quoted_statement'] as const)
      expect(await service.refusal(verify, { peer: 'charlie', type, envelope })).toBe('signature_invalid')
    expect(await service.refusal(verify, { peer: 'charlie', type: 'statement', envelope })).toBe('unavailable')
  })

  test('an accredited peer sends and receives until the last moment of its last day', async () => {
    world.clock.advance(Date.parse('2026-03-02T23:59:59Z') - noon)
    expect((await sending('bravo', 'on-the-last-day')).status).toBe(202)
    await waitUntil(() => ready('bravo').length > 0)
    const name = drop('bravo')
    await waitUntil(() => isGone('bravo', name))
    expect((await channels())['bravo in']).toEqual(['open', ''])
  })

  test('the day after, it does neither; messages pending for it wait, and other peers go on', async () => {
    const operator = await createOperator(world)
    const { id } = await operator.ok(create, {
      ...buildSessionInput({ m: 1, n: 2 }),
      classification: sharedClassification,
      invite: ['bravo'],
    })
    await waitUntilDelivered(operator, id)
    await waitUntil(() => ready('bravo').length >= 4)
    world.clock.advance(1_000)
    // A transfer that had begun by then may end.
    await afterScans()
    await afterPublishing('delta-goes-on-before')
    const published = ready('bravo')
    const name = drop('bravo')
    const { status, problem } = await sending('bravo', 'the-day-after')
    expect([status, problem?.detail]).toEqual([503, expect.stringContaining('its accreditation ended on 2026-03-02')])
    expect(await operator.ok(cancel, { id })).toMatchObject({ state: 'WITHDRAWN', undelivered: 1 })
    world.wakeWorker('consensus', 'relay')
    await afterScans()
    await afterPublishing('delta-goes-on')
    expect(isGone('bravo', name)).toBe(false)
    expect(ready('bravo')).toEqual(published)
    expect(await operator.ok(get, { id })).toMatchObject({ undelivered: 1 })
  })

  test('operators see which channel stands still, and why', async () => {
    const stopped = ['stopped', expect.stringContaining('its accreditation ended on 2026-03-02')]
    expect(await channels()).toEqual({
      'bravo out': stopped,
      'bravo in': stopped,
      'delta out': ['open', ''],
      'delta in': ['open', ''],
    })
    const token = await world.token({ roles: ['operator'] })
    const { status, json } = await world.call('site', 'GET', '/health', undefined, { token })
    expect([status, json]).toEqual([
      200,
      expect.objectContaining({
        status: 'degraded',
        dependencies: expect.arrayContaining([
          expect.objectContaining({
            name: 'transport filedrop',
            state: 'degraded',
            detail: expect.stringContaining('bravo'),
          }),
        ]),
      }),
    ])
    expect(new Set(world.loggedErrors.map((fault) => fault.split(' ')[0]))).toEqual(
      new Set(['filedrop.channel.stopped']),
    )
    expect(world.loggedErrors).toHaveLength(2)
  })

  test('the alarm has sounded once for each direction: on record, counted, and in the gauges', async () => {
    const token = await world.token({ roles: ['auditor', 'operator'] })
    const at = '/api/v2/audit?action=filedrop.channel.stopped'
    const { json } = await world.call('site', 'GET', at, undefined, { token })
    const events = (json as { items: unknown[] }).items.map((item) => auditRecord.parse(item).event)
    const why = 'the channel to bravo may not be used: its accreditation ended on 2026-03-02'
    expect(events.map((event) => [event?.target, event?.detail])).toEqual(
      expect.arrayContaining([
        ['filedrop/alpha/bravo', { direction: 'out', detail: why }],
        ['filedrop/bravo/alpha', { direction: 'in', detail: why }],
      ]),
    )
    expect(events).toHaveLength(2)
    const text = await readMetrics(world, token)
    expect(text).toMatch(/^filedrop_alarms_total\{peer="bravo",alarm="stopped"\} 2$/m)
    const open = text.match(/^channel_open\{.*$/gm)
    expect(open?.map((line) => line.replace(/^.*peer="(\w+)",direction="(\w+)"\} /, '$1 $2 ')).sort()).toEqual([
      'bravo in 0',
      'bravo out 0',
      'delta in 1',
      'delta out 1',
    ])
  })

  test('started again, it refuses; with a new accreditation it delivers the pending messages', async () => {
    await world.stop()
    await expect(world.start()).rejects.toMatchObject({ name: 'StartRefusal' })
    await peerFiles(world.folder.peers).remove('charlie')
    const text = fs.readFileSync(world.folder.profile, 'utf8')
    fs.writeFileSync(world.folder.profile, text.replace(/2026-03-02/, '2026-12-31'))
    await world.start()
    const operator = await createOperator(world)
    const [session] = (await operator.ok(listSessions, {})).items
    expect(await waitUntilDelivered(operator, session?.id ?? '')).toMatchObject({ state: 'WITHDRAWN' })
    await waitUntil(() => fs.readdirSync(incoming('bravo')).length === 0)
  })
})
