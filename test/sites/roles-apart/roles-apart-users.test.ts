// One site as two processes of two users: each has its own files, neither those of the other, and together they work as one.
import { once } from 'node:events'
import * as fs from 'node:fs'
import * as http from 'node:http'
import path from 'node:path'
import { describe, expect } from 'vitest'
import { roleAudienceUrn, siteIssuerUrn } from '../../../adapters/identity/offline/issuer.ts'
import { readKeyFiles } from '../../../adapters/keys/jose/key-files.ts'
import { issueToken } from '../../../adapters/keys/jose/tokens.ts'
import { requestOverSocket } from '../../../daemon/boot/host/socket-request.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { list as listSessions } from '../../../daemon/roles/consensus/session/list.ts'
import { list as listChannels } from '../../../daemon/roles/site/channel/list.ts'
import type { UnixUser } from '../../support/command/run-executable.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { cancelWaitingBackups } from '../../support/site/cancel-waiting-backups.ts'
import type { RunningDaemon } from '../../support/site/daemon-process.ts'
import { createPackagedPairTest } from '../../support/site/packaged-pair-test.ts'
import {
  contributeOpinion,
  expectSharedEvidence,
  openInvitedSession,
  type PackagedSitePair,
  sharedClassification,
  waitUntilDelivered,
} from '../../support/site/packaged-site-pair.ts'
import { forbiddenCommands, runShell } from '../../support/site/run-shell.ts'
import { buildTokenClaims } from '../../support/site/single-cluster-site.ts'
import { waitUntil } from '../../support/site/test-site.ts'

const isRoot = process.getuid?.() === 0
const pairTest = createPackagedPairTest({ isStarted: false })
const test = whenPresent(
  { isPresent: isRoot, name: 'root', hint: 'only root can start processes of other users' },
  pairTest,
)

/** Numbers that no system gives out by itself; they need no names. */
const gid = 57_000
const users = { site: { uid: 57_001, gid }, consensus: { uid: 57_002, gid } } as const
const stranger: UnixUser = { uid: 57_003, gid: 57_003 }

let site: RunningDaemon
let consensus: RunningDaemon

pairTest.beforeAll(async ({ pair }) => {
  const { alpha, bravo } = pair
  editProfile(pair, 'roles: [site, consensus, resolution]', 'roles: [site, consensus]')
  editProfile(
    pair,
    'platform:',
    `platform:\n  os_group: ${gid}\n  os_users: { site: ${users.site.uid}, consensus: ${users.consensus.uid} }`,
  )
  fs.chmodSync(pair.world.dir, 0o755)
  await alpha.runJson(['site', 'divide'])
  const started = await Promise.all([startSite(pair), startConsensus(pair), bravo.start()])
  site = started[0]
  consensus = started[1]
})

const startSite = (pair: PackagedSitePair) => pair.alpha.startAs(users.site, 'site')
const startConsensus = (pair: PackagedSitePair) => pair.alpha.startAs(users.consensus, 'consensus')

function editProfile(pair: PackagedSitePair, from: string, to: string): void {
  fs.writeFileSync(at(pair, 'profile.yaml'), fs.readFileSync(at(pair, 'profile.yaml'), 'utf8').replace(from, to))
}
const readUid = (pid: number) => fs.statSync(`/proc/${pid}`).uid
const at = (pair: PackagedSitePair, ...names: readonly string[]) => path.join(pair.alpha.dir, ...names)

/** The findings of the doctor, run by root. */
async function listFindings(pair: PackagedSitePair): Promise<readonly unknown[]> {
  const { stdout } = await pair.alpha.run(['doctor', '--json'])
  return JSON.parse(stdout).findings.filter(({ state }: { state: string }) => state !== 'ok')
}

test('each runs as its user, and together they carry a session to its end, with evidence', async ({ pair }) => {
  expect([readUid(site.pid), readUid(consensus.pid)]).toEqual([users.site.uid, users.consensus.uid])
  await expectSharedEvidence(pair)
})

describe('the user of consensus', () => {
  const { consensus: user } = users

  test('has its own files and no others, as the doctor sees it', async ({ pair }) => {
    expect(await listFindings(pair)).toEqual([])
  })

  test.for(forbiddenCommands)('may not %s', ([, words], { pair }) => {
    const { status, stderr } = runShell(user, `cd ${pair.alpha.dir} && SITE=${site.pid} && ${words}`)
    expect(stderr).toMatch(/Permission denied|Operation not permitted|cannot open/)
    expect(status).not.toBe(0)
  })

  test('reads what it judges tokens by, and its own', ({ pair }) => {
    const words = 'cat identity/token-keys.json identity/revoked.jsonl profile.yaml data/consensus/consensus.db'
    expect(runShell(user, `cd ${pair.alpha.dir} && ${words} identity/roles/consensus/*`)).toEqual({
      status: 0,
      stderr: '',
    })
    expect(runShell(users.site, `cd ${pair.alpha.dir} && cat keys/*.json keys/secrets/*`).status).toBe(0)
    // Not even the site role reads the files of another.
    expect(runShell(users.site, `cd ${pair.alpha.dir} && cat data/consensus/consensus.db`).status).not.toBe(0)
    expect(runShell(stranger, `ls ${pair.alpha.dir}`).status).not.toBe(0)
  })

  test('may not run the site role, and gets the name of its owner', async ({ pair }) => {
    for (const roles of [['site'], []]) {
      const { exit, stderr } = await pair.alpha.runAs(user, ['serve', ...roles])
      expect(exit).toBe(3)
      expect(stderr).toContain(`site: its files belong to ${users.site.uid}; this process runs as ${user.uid}`)
    }
    const asRoot = await pair.alpha.run(['serve', 'consensus'])
    expect([asRoot.exit, asRoot.stderr]).toEqual([3, expect.stringContaining(`run it as ${user.uid}`)])
  })

  test('may not run its own role without the group', async ({ pair }) => {
    const { exit, stderr } = await pair.alpha.runAs({ ...user, gid: stranger.gid }, ['serve', 'consensus'])
    expect([exit, stderr]).toEqual([3, expect.stringContaining('no site was found')])
  })

  test('each command reports the part that it may not do, and that nothing was left out', async ({ pair }) => {
    for (const words of [
      ['audit', 'verify'],
      ['store', 'check'],
      ['store', 'backup', at(pair, '..', 'copy')],
    ]) {
      const { exit, stderr } = await pair.alpha.runAs(user, words)
      expect([exit, stderr]).toEqual([3, expect.stringContaining(`belongs to the user ${users.site.uid}`)])
    }
    const { exit, stderr } = await pair.alpha.runAs(user, ['site', 'divide'])
    expect([exit, stderr]).toEqual([3, expect.stringContaining('only root')])
  })
})

const paths = { sessions: '/api/v2/consensus/session', keys: '/api/v2/site/key', channels: '/api/v2/site/channel' }

/** The status that the socket of a role answers with. */
async function requestStatus(
  pair: PackagedSitePair,
  role: 'site' | 'consensus',
  what: keyof typeof paths,
  authorization?: string,
): Promise<number> {
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization }
  const request = { method: 'GET', path: paths[what], headers, timeout_ms: 10_000 }
  return (await requestOverSocket(at(pair, 'run', role, 'sock'), request)).status
}

/** Signed by the key that the user of consensus can read. */
async function signToken(pair: PackagedSitePair, sub: string, roles: readonly string[], aud: string): Promise<string> {
  const [key] = readKeyFiles(at(pair, 'identity', 'roles', 'consensus'))
  if (!key) throw new Error('consensus has no key')
  const claims = buildTokenClaims({ sub, tenant_id: '*', roles: [...roles] }, { aud })
  return await issueToken(key, { ...claims, exp: claims.iat + 300 })
}

describe('at the socket of the site role', () => {
  test('consensus is itself, with the few rights of a service, and nobody else', async ({ pair }) => {
    const there = roleAudienceUrn('alpha', 'site')
    const own = `Bearer ${await signToken(pair, 'role:consensus', ['service'], there)}`
    expect([
      await requestStatus(pair, 'site', 'keys', own),
      await requestStatus(pair, 'site', 'channels', own),
    ]).toEqual([200, 403])
    for (const token of [
      await signToken(pair, 'role:site', ['service'], there),
      await signToken(pair, 'role:consensus', ['admin'], there),
      await signToken(pair, 'demo', ['admin'], there),
      await signToken(pair, 'role:consensus', ['service'], siteIssuerUrn('alpha')),
    ]) {
      expect(await requestStatus(pair, 'site', 'keys', `Bearer ${token}`)).toBe(401)
    }
    expect(await requestStatus(pair, 'site', 'keys')).toBe(401)
  })

  test('no command admits its user: it cannot forge a token, nor mint one', async ({ pair }) => {
    const token = await signToken(pair, 'role:site', ['service'], roleAudienceUrn('alpha', 'site'))
    const forged = await pair.alpha.runAs(users.consensus, ['filedrop', 'status', '--token', token])
    expect([forged.exit, forged.stderr]).toEqual([3, expect.stringContaining('the token is not valid')])
    const minted = await pair.alpha.runAs(users.consensus, ['filedrop', 'status'])
    expect([minted.exit, minted.stderr]).toEqual([
      3,
      expect.stringContaining(`this user may not open ${at(pair, 'keys')}`),
    ])
  })
})

test('the user of the site role has the commands that concern no other role’s files', async ({ pair }) => {
  for (const words of [
    ['status'],
    ['filedrop', 'status'],
    ['keys', 'list'],
    ['peers', 'list'],
    ['token', 'mint', '--subject', 'ruth', '--roles', 'auditor'],
    ['consensus', 'list'],
  ]) {
    const { exit, stderr } = await pair.alpha.runAs(users.site, words)
    expect([words, exit, stderr]).toEqual([words, 0, expect.not.stringContaining('error')])
  }
  // A file that it may not read is reported as a problem, and not passed over.
  const { exit, stdout } = await pair.alpha.runAs(users.site, ['doctor', '--json'])
  const findings = JSON.parse(stdout).findings.filter(({ state }: { state: string }) => state !== 'ok')
  expect(exit).toBe(5)
  expect(findings).toMatchObject([
    {
      check: 'disk',
      detail: expect.stringContaining(`${at(pair, 'data', 'consensus')}: this user may not write there`),
    },
    { detail: expect.stringMatching(/the data of consensus belongs to .*store/) },
  ])
})

describe('both processes refuse a revoked token with the next request', () => {
  const statuses = async (person: PackagedSitePair['atAlpha']) => [
    (await person.call(listSessions, {})).status,
    (await person.call(listChannels, {})).status,
  ]

  test('all that a subject holds', async ({ pair }) => {
    const eve = await pair.alpha.as('eve', ['operator'])
    expect(await statuses(eve)).toEqual([200, 200])
    await pair.alpha.runJson(['token', 'revoke', '--subject', 'eve', '--reason', 'laptop lost'])
    expect(await statuses(eve)).toEqual([401, 401])
  })

  test('all that a key has signed; tokens of its successor count', async ({ pair }) => {
    const { alpha } = pair
    const old = await alpha.as('dora', ['operator'])
    const { items } = await alpha.runJson(['keys', 'list'])
    const { kid } = items.find(({ use, role }: { use: string; role?: string }) => use === 'token' && !role)
    await alpha.runJson(['keys', 'rotate', kid])
    const young = await alpha.as('dora', ['operator'])
    expect([await statuses(old), await statuses(young)]).toEqual([
      [200, 200],
      [200, 200],
    ])
    await alpha.runJson(['keys', 'revoke', kid, '--yes'])
    expect([await statuses(old), await statuses(young)]).toEqual([
      [401, 401],
      [200, 200],
    ])
    Object.assign(pair, { atAlpha: await alpha.as('demo', ['operator', 'admin']) })
    expect(fs.statSync(at(pair, 'identity', 'token-keys.json'))).toMatchObject({
      uid: users.site.uid,
      gid,
      mode: 0o100640,
    })
  })

  test('the key of a role: it asks for nothing until it has another', async ({ pair }) => {
    const { alpha } = pair
    const { items } = await alpha.runJson(['keys', 'list'])
    const { kid } = items.find(({ role }: { role?: string }) => role === 'consensus')
    const asSite = await alpha.runAs(users.site, ['keys', 'revoke', kid, '--yes'])
    expect([asSite.exit, asSite.stderr]).toEqual([3, expect.stringContaining('the key of consensus belongs to')])
    await alpha.runJson(['keys', 'revoke', kid, '--yes'])
    const id = await openUnsignedSession(pair)
    await alpha.runJson(['keys', 'generate', '--use', 'token', '--role', 'consensus'])
    await waitUntilDelivered(pair.atAlpha, id)
  })

  /** A session whose evidence stays pending because consensus has no key. */
  async function openUnsignedSession(pair: PackagedSitePair): Promise<string> {
    const local = { lens_id: 'l', lens_version: '1', policy: { m: 2, n: 2 }, classification: sharedClassification }
    const { id } = await pair.atAlpha.ok(create, local)
    await contributeOpinion(pair.atAlpha, id, 'alice', 0.94)
    expect(await contributeOpinion(pair.atAlpha, id, 'bob', 0.92)).toMatchObject({ state: 'RATIFIED', undelivered: 1 })
    await waitUntil(() => consensus.log().includes('has no key that the site lists'))
    return id
  }
})

describe('backups', () => {
  const sets = (pair: PackagedSitePair) =>
    fs.existsSync(at(pair, 'data', 'backups'))
      ? fs.readdirSync(at(pair, 'data', 'backups')).filter((name) => !name.startsWith('.'))
      : []

  test('each role writes its own copy, and the site role the manifest', async ({ pair }) => {
    editProfile(pair, '\nsite:', "\nsite:\n  backup_cron: '* * * * * *'\n  backup_keep: 2")
    expect(await site.stop()).toBe(0)
    site = await startSite(pair)
    const set = await waitUntil(() => sets(pair)[0])
    expect(await site.stop()).toBe(0)
    const folder = at(pair, 'data', 'backups', set)
    const owners = fs.readdirSync(folder).map((name) => {
      const { uid, mode } = fs.statSync(path.join(folder, name))
      return [name, uid, (mode & 0o777).toString(8)]
    })
    expect(owners.sort()).toEqual([
      ['consensus.db', users.consensus.uid, '600'],
      ['manifest.json', users.site.uid, '600'],
      ['site.db', users.site.uid, '600'],
    ])
  })

  test('without one of the roles there is none, and the log says which', async ({ pair }) => {
    expect(await consensus.stop()).toBe(0)
    const before = sets(pair)
    site = await startSite(pair)
    await waitUntil(() => site.log().includes('the backup failed: the role consensus made no copy'))
    expect(sets(pair)).toEqual(before)
    expect(await site.stop()).toBe(0)
    expect(fs.readdirSync(at(pair, 'data', 'backups')).filter((name) => name.startsWith('.'))).toEqual([])
  })

  test('a substitute for consensus sees tokens, and they count for nothing at the site role', async ({ pair }) => {
    site = await startSite(pair)
    const shown = await shownToThief(pair)
    consensus = await startConsensus(pair)
    const statuses = new Map<string, number>()
    for (const authorization of shown) {
      const { sub } = JSON.parse(Buffer.from(authorization.split('.')[1] ?? '', 'base64url').toString('utf8'))
      statuses.set(sub, await requestStatus(pair, 'consensus', 'sessions', authorization))
      expect(await requestStatus(pair, 'site', 'keys', authorization)).toBe(401)
    }
    // A role may call only the operations that it calls.
    expect(Object.fromEntries(statuses)).toEqual({ 'cli:root': 200, 'role:site': 403 })
    expect(await Promise.all([site.stop(), consensus.stop()])).toEqual([0, 0])
  })

  /** With what right the site role, which makes backups, and a command of root ask a socket of the user of consensus. */
  async function shownToThief(pair: PackagedSitePair): Promise<ReadonlySet<string>> {
    const shown = new Set<string>()
    const thief = http.createServer((request, answer) => {
      shown.add(request.headers.authorization ?? '')
      answer.writeHead(503).end()
    })
    const sock = at(pair, 'run', 'consensus', 'sock')
    thief.listen(sock)
    await once(thief, 'listening')
    fs.chownSync(sock, users.consensus.uid, gid)
    fs.chmodSync(sock, 0o660)
    // The next time of the schedule makes another at once.
    await cancelWaitingBackups(pair.alpha)
    await waitUntil(() => shown.size > 0)
    expect((await pair.alpha.run(['consensus', 'list'])).exit).not.toBe(0)
    thief.close()
    await once(thief, 'close')
    return shown
  }

  test('root puts one back, and each role finds its own', async ({ pair }) => {
    const { alpha } = pair
    const [set = ''] = sets(pair)
    expect(await alpha.runJson(['store', 'restore', at(pair, 'data', 'backups', set), '--yes'])).toMatchObject({
      roles: ['site', 'consensus'],
    })
    // The numbers used since the backup are forgotten, so nothing goes out under numbers that the peer may have seen.
    expect(await listFindings(pair)).toMatchObject([{ check: 'traffic', remedy: 'platform filedrop epoch bravo' }])
    editProfile(pair, "  backup_cron: '* * * * * *'\n", '')
    const started = await Promise.all([startSite(pair), startConsensus(pair)])
    site = started[0]
    consensus = started[1]
    expect((await pair.atAlpha.ok(listSessions, {})).items.length).toBeGreaterThan(0)
  })

  test('the channel sends again in its next epoch, and root’s own commands are the courier', async ({ pair }) => {
    const { alpha, atAlpha } = pair
    await alpha.runJson(['filedrop', 'epoch', 'bravo', '--yes'])
    await openInvitedSession(atAlpha, 0.94)
    const medium = path.join(pair.world.dir, 'medium')
    fs.mkdirSync(medium, { mode: 0o700 })
    const denied = await alpha.run(['filedrop', 'export', medium])
    expect([denied.exit, denied.stderr]).toEqual([3, expect.stringContaining(`chown -R ${users.site.uid}`)])
    fs.chownSync(medium, users.site.uid, gid)
    let taken = 0
    // The epoch itself, and the invitation; before them, what an earlier epoch still sent.
    await waitUntil(async () => {
      const { items } = await alpha.runJson(['filedrop', 'export', medium])
      for (const { messages } of items) taken += messages
      return taken >= 2 && fs.readdirSync(at(pair, 'filedrop', 'bravo', 'out', 'ready')).length === 0
    })
    expect(await listFindings(pair)).toEqual([])
  })
})

test('stops in order with 0; root verifies the records, and divides again without a change', async ({ pair }) => {
  const running = await pair.alpha.run(['site', 'divide'])
  expect([running.exit, running.stderr]).toEqual([3, expect.stringContaining('is running')])
  expect(await Promise.all([site.stop(), consensus.stop()])).toEqual([0, 0])
  expect(await pair.alpha.runJson(['audit', 'verify'])).toMatchObject({ whole: true })
  // Messages keep the user who brought them, until the site is divided again.
  const again = [await pair.alpha.runJson(['site', 'divide']), await pair.alpha.runJson(['site', 'divide'])]
  const broughtHere = fs.readdirSync(at(pair, 'filedrop', 'bravo', 'in', 'done'), { recursive: true })
  expect(again).toMatchObject([{ group: gid, changes: broughtHere.length }, { changes: 0 }])
})
