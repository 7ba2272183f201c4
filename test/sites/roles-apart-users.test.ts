// One site as two processes of two users: each has its own files, neither those of the other, and together they work as one.
import { once } from 'node:events'
import * as fs from 'node:fs'
import * as http from 'node:http'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { roleAudienceUrn, siteIssuerUrn } from '../../adapters/identity/offline/issuer.ts'
import { readKeyFiles } from '../../adapters/keys/jose/key-files.ts'
import { issueToken } from '../../adapters/keys/jose/tokens.ts'
import { requestOverSocket } from '../../daemon/boot/host/socket-request.ts'
import { get as getEvidence } from '../../daemon/roles/consensus/evidence/get.ts'
import { create } from '../../daemon/roles/consensus/session/create.ts'
import { list as listSessions } from '../../daemon/roles/consensus/session/list.ts'
import { list as listChannels } from '../../daemon/roles/site/channel/list.ts'
import { whenPresent } from '../support/runner/requires.ts'
import type { RunningDaemon, UnixUser } from '../support/site/packaged-federation.ts'
import { buildTokenClaims } from '../support/site/single-cluster-site.ts'
import { waitUntil } from '../support/site/test-site.ts'
import {
  carryUntil,
  contributeOpinion,
  createPackagedSitePair,
  findSession,
  openInvitedSession,
  type PackagedSitePair,
  sharedClassification,
  waitUntilDelivered,
} from './packaged-site-pair.ts'
import { runShell } from './run-shell.ts'

const isRoot = process.getuid?.() === 0
const test = whenPresent({ isPresent: isRoot, name: 'root', hint: 'only root can start processes of other users' })

/** Numbers that no system gives out by itself; they need no names. */
const gid = 57_000
const users = { site: { uid: 57_001, gid }, consensus: { uid: 57_002, gid } } as const
const stranger: UnixUser = { uid: 57_003, gid: 57_003 }

let two: PackagedSitePair
let site: RunningDaemon
let consensus: RunningDaemon

beforeAll(async () => {
  if (!isRoot) return
  two = await createPackagedSitePair()
  const { alpha, bravo } = two
  editProfile('roles: [site, consensus, resolution]', 'roles: [site, consensus]')
  editProfile(
    'platform:',
    `platform:\n  os_group: ${gid}\n  os_users: { site: ${users.site.uid}, consensus: ${users.consensus.uid} }`,
  )
  fs.chmodSync(two.world.dir, 0o755)
  await alpha.runJson(['site', 'divide'])
  const started = await Promise.all([startSite(), startConsensus(), bravo.start()])
  site = started[0]
  consensus = started[1]
})
afterAll(() => two?.world.end())

const startSite = () => two.alpha.startAs(users.site, 'site')
const startConsensus = () => two.alpha.startAs(users.consensus, 'consensus')

function editProfile(from: string, to: string): void {
  fs.writeFileSync(at('profile.yaml'), fs.readFileSync(at('profile.yaml'), 'utf8').replace(from, to))
}
const readUid = (pid: number) => fs.statSync(`/proc/${pid}`).uid
const at = (...names: readonly string[]) => path.join(two.alpha.dir, ...names)

/** What the doctor finds when root asks. */
async function listFindings(): Promise<readonly unknown[]> {
  const { stdout } = await two.alpha.run(['doctor', '--json'])
  return JSON.parse(stdout).findings.filter(({ state }: { state: string }) => state !== 'ok')
}

test('each runs as its user, and together they carry a session to its end, with evidence', async () => {
  expect([readUid(site.pid), readUid(consensus.pid)]).toEqual([users.site.uid, users.consensus.uid])
  const { atAlpha, atBravo, toBravo, toAlpha } = two
  const id = await openInvitedSession(atAlpha, 0.94)
  await carryUntil(toBravo, () => findSession(atBravo, id))
  await contributeOpinion(atBravo, id, 'bob', 0.92)
  await carryUntil(toAlpha, async () => (await findSession(atAlpha, id))?.state === 'RATIFIED')
  await carryUntil(toBravo, async () => (await findSession(atBravo, id))?.state === 'RATIFIED')
  const { evidence_block_id: block_id = '' } = await waitUntilDelivered(atAlpha, id)
  expect(await atBravo.ok(getEvidence, { block_id })).toEqual(await atAlpha.ok(getEvidence, { block_id }))
})

describe('the user of consensus', () => {
  const { consensus: user } = users

  test('has what is its own and nothing besides, as the doctor sees it', async () => {
    expect(await listFindings()).toEqual([])
  })

  test.each([
    ['read a key', 'cat keys/*.json'],
    ['list the keys', 'ls keys'],
    ['read messages', 'ls filedrop'],
    ['read what waits for a courier', 'ls filedrop/bravo/out/ready'],
    ['bring a message', 'touch filedrop/bravo/in/new/message.env.json'],
    ['read whom the site trusts', 'ls peers'],
    ['read the key of the site role', 'ls identity/roles/site'],
    ['read the database of the site role', 'cat data/site/site.db'],
    ['replace the socket of the site role', 'rm -f run/site/sock'],
    ['put the folder of the site role aside', 'mv run/site run/elsewhere'],
    ['put something beside the folders of the roles', 'mkdir run/another'],
    ['make a database of another role', 'mkdir data/another'],
    ['list a key of its own', 'touch identity/token-keys.json'],
    ['open the list of keys to itself', 'chmod 666 identity/token-keys.json'],
    ['take the list of keys away', 'rm -f identity/token-keys.json'],
    ['put a list of its own in the place', 'mv identity/token-keys.json identity/other'],
    ['put a list of its own beside it', 'touch identity/token-keys.json.tmp'],
    ['give another role a key', 'touch identity/roles/site/token-x.json'],
    ['bring a revoked token back', 'truncate -s 0 identity/revoked.jsonl'],
    ['change the profile', 'touch profile.yaml'],
    ['take the lock of the site role', 'touch run/site/lock'],
    ['stop the site role', `kill -0 "$SITE"`],
    ['look into the process of the site role', `cat "/proc/$SITE/environ"`],
    ['see what the site role has open', `ls "/proc/$SITE/fd"`],
  ])('may not %s', (_, words) => {
    const { status, stderr } = runShell(user, `cd ${two.alpha.dir} && SITE=${site.pid} && ${words}`)
    expect(stderr).toMatch(/Permission denied|Operation not permitted|cannot open/)
    expect(status).not.toBe(0)
  })

  test('reads what it judges tokens by, and its own', () => {
    const words = 'cat identity/token-keys.json identity/revoked.jsonl profile.yaml data/consensus/consensus.db'
    expect(runShell(user, `cd ${two.alpha.dir} && ${words} identity/roles/consensus/*`)).toEqual({
      status: 0,
      stderr: '',
    })
    expect(runShell(users.site, `cd ${two.alpha.dir} && cat keys/*`).status).toBe(0)
    // Not even the site role reads what is of another.
    expect(runShell(users.site, `cd ${two.alpha.dir} && cat data/consensus/consensus.db`).status).not.toBe(0)
    expect(runShell(stranger, `ls ${two.alpha.dir}`).status).not.toBe(0)
  })

  test('may not run the site role, and is told whose it is', async () => {
    for (const roles of [['site'], []]) {
      const { exit, stderr } = await two.alpha.runAs(user, ['serve', ...roles])
      expect(exit).toBe(3)
      expect(stderr).toContain(`site: its files belong to ${users.site.uid}; this process runs as ${user.uid}`)
    }
    const asRoot = await two.alpha.run(['serve', 'consensus'])
    expect([asRoot.exit, asRoot.stderr]).toEqual([3, expect.stringContaining(`run it as ${user.uid}`)])
  })

  test('may not run its own role without the group', async () => {
    const { exit, stderr } = await two.alpha.runAs({ ...user, gid: stranger.gid }, ['serve', 'consensus'])
    expect([exit, stderr]).toEqual([3, expect.stringContaining('no site was found')])
  })

  test('is told by each command what it may not do, and that nothing was left out', async () => {
    for (const words of [
      ['audit', 'verify'],
      ['store', 'check'],
      ['store', 'backup', at('..', 'copy')],
    ]) {
      const { exit, stderr } = await two.alpha.runAs(user, words)
      expect([exit, stderr]).toEqual([3, expect.stringContaining(`belongs to the user ${users.site.uid}`)])
    }
    const { exit, stderr } = await two.alpha.runAs(user, ['site', 'divide'])
    expect([exit, stderr]).toEqual([3, expect.stringContaining('only root')])
  })
})

const paths = { sessions: '/api/v2/consensus/session', keys: '/api/v2/site/key', channels: '/api/v2/site/channel' }

/** The status that the socket of a role answers with. */
async function requestStatus(
  role: 'site' | 'consensus',
  what: keyof typeof paths,
  authorization?: string,
): Promise<number> {
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization }
  const request = { method: 'GET', path: paths[what], headers, timeout_ms: 10_000 }
  return (await requestOverSocket(at('run', role, 'sock'), request)).status
}

/** Signed by the key that the user of consensus can read. */
async function signToken(sub: string, roles: readonly string[], aud: string): Promise<string> {
  const [key] = readKeyFiles(at('identity', 'roles', 'consensus'))
  if (!key) throw new Error('consensus has no key')
  const claims = buildTokenClaims({ sub, tenant_id: '*', roles: [...roles] }, { aud })
  return await issueToken(key, { ...claims, exp: claims.iat + 300 })
}

describe('at the socket of the site role', () => {
  test('consensus is itself, with the few rights of a service, and nobody else', async () => {
    const there = roleAudienceUrn('alpha', 'site')
    const own = `Bearer ${await signToken('role:consensus', ['service'], there)}`
    expect([await requestStatus('site', 'keys', own), await requestStatus('site', 'channels', own)]).toEqual([200, 403])
    for (const token of [
      await signToken('role:site', ['service'], there),
      await signToken('role:consensus', ['admin'], there),
      await signToken('demo', ['admin'], there),
      await signToken('role:consensus', ['service'], siteIssuerUrn('alpha')),
    ]) {
      expect(await requestStatus('site', 'keys', `Bearer ${token}`)).toBe(401)
    }
    expect(await requestStatus('site', 'keys')).toBe(401)
  })

  test('its user gets in by no command either: not with a token of its making, and it can mint none', async () => {
    const token = await signToken('role:site', ['service'], roleAudienceUrn('alpha', 'site'))
    const forged = await two.alpha.runAs(users.consensus, ['filedrop', 'status', '--token', token])
    expect([forged.exit, forged.stderr]).toEqual([3, expect.stringContaining('the token is not valid')])
    const minted = await two.alpha.runAs(users.consensus, ['filedrop', 'status'])
    expect([minted.exit, minted.stderr]).toEqual([3, expect.stringContaining(`this user may not open ${at('keys')}`)])
  })
})

test('the user of the site role has the commands that concern no other role’s files', async () => {
  for (const words of [
    ['status'],
    ['filedrop', 'status'],
    ['keys', 'list'],
    ['peers', 'list'],
    ['token', 'mint', '--subject', 'ruth', '--roles', 'auditor'],
    ['consensus', 'list'],
  ]) {
    const { exit, stderr } = await two.alpha.runAs(users.site, words)
    expect([words, exit, stderr]).toEqual([words, 0, expect.not.stringContaining('error')])
  }
  // What it may not look at is a problem that is told, and not passed over.
  const { exit, stdout } = await two.alpha.runAs(users.site, ['doctor', '--json'])
  const told = JSON.parse(stdout).findings.filter(({ state }: { state: string }) => state !== 'ok')
  expect(exit).toBe(5)
  expect(told).toMatchObject([
    { check: 'disk', detail: expect.stringContaining(`${at('data', 'consensus')}: this user may not write there`) },
    { detail: expect.stringMatching(/the data of consensus belongs to .*store/) },
  ])
})

describe('what is revoked is refused by both processes with the next request', () => {
  const statuses = async (person: PackagedSitePair['atAlpha']) => [
    (await person.call(listSessions, {})).status,
    (await person.call(listChannels, {})).status,
  ]

  test('all that a subject holds', async () => {
    const eve = await two.alpha.as('eve', ['operator'])
    expect(await statuses(eve)).toEqual([200, 200])
    await two.alpha.runJson(['token', 'revoke', '--subject', 'eve', '--reason', 'laptop lost'])
    expect(await statuses(eve)).toEqual([401, 401])
  })

  test('all that a key has signed; tokens of its successor count', async () => {
    const { alpha } = two
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
    two = { ...two, atAlpha: await alpha.as('demo', ['operator', 'admin']) }
    expect(fs.statSync(at('identity', 'token-keys.json'))).toMatchObject({ uid: users.site.uid, gid, mode: 0o100640 })
  })

  test('the key of a role: it asks for nothing until it has another', async () => {
    const { alpha } = two
    const { items } = await alpha.runJson(['keys', 'list'])
    const { kid } = items.find(({ role }: { role?: string }) => role === 'consensus')
    const asSite = await alpha.runAs(users.site, ['keys', 'revoke', kid, '--yes'])
    expect([asSite.exit, asSite.stderr]).toEqual([3, expect.stringContaining('the key of consensus belongs to')])
    await alpha.runJson(['keys', 'revoke', kid, '--yes'])
    const id = await askedInVain()
    await alpha.runJson(['keys', 'generate', '--use', 'token', '--role', 'consensus'])
    await waitUntilDelivered(two.atAlpha, id)
  })

  /** A session whose evidence waits, since nobody signs for consensus. */
  async function askedInVain(): Promise<string> {
    const local = { lens_id: 'l', lens_version: '1', policy: { m: 2, n: 2 }, classification: sharedClassification }
    const { id } = await two.atAlpha.ok(create, local)
    await contributeOpinion(two.atAlpha, id, 'alice', 0.94)
    expect(await contributeOpinion(two.atAlpha, id, 'bob', 0.92)).toMatchObject({ state: 'RATIFIED', undelivered: 1 })
    await waitUntil(() => consensus.log().includes('has no key that the site lists'))
    return id
  }
})

describe('backups', () => {
  const sets = () =>
    fs.existsSync(at('data', 'backups'))
      ? fs.readdirSync(at('data', 'backups')).filter((name) => !name.startsWith('.'))
      : []

  test('each role writes its own copy, and the site role the manifest', async () => {
    editProfile('\nsite:', "\nsite:\n  backup_cron: '* * * * * *'\n  backup_keep: 2")
    expect(await site.stop()).toBe(0)
    site = await startSite()
    const set = await waitUntil(() => sets()[0])
    expect(await site.stop()).toBe(0)
    const folder = at('data', 'backups', set)
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

  test('without one of the roles there is none, and the log says which', async () => {
    expect(await consensus.stop()).toBe(0)
    const before = sets()
    site = await startSite()
    await waitUntil(() => site.log().includes('the backup failed: the role consensus made no copy'))
    expect(sets()).toEqual(before)
    expect(await site.stop()).toBe(0)
    expect(fs.readdirSync(at('data', 'backups')).filter((name) => name.startsWith('.'))).toEqual([])
  })

  test('what stands in for consensus is shown tokens, and they are worth nothing at the site role', async () => {
    site = await startSite()
    const shown = await shownToThief()
    consensus = await startConsensus()
    const subjects = new Set<string>()
    for (const authorization of shown) {
      const { sub } = JSON.parse(Buffer.from(authorization.split('.')[1] ?? '', 'base64url').toString('utf8'))
      subjects.add(sub)
      expect(await requestStatus('consensus', 'sessions', authorization)).toBe(200)
      expect(await requestStatus('site', 'keys', authorization)).toBe(401)
    }
    expect([...subjects].sort()).toEqual(['cli:root', 'role:site'])
    expect(await Promise.all([site.stop(), consensus.stop()])).toEqual([0, 0])
  })

  /** With what right the site role, which makes backups, and a command of root ask a socket of the user of consensus. */
  async function shownToThief(): Promise<ReadonlySet<string>> {
    const shown = new Set<string>()
    const thief = http.createServer((request, answer) => {
      shown.add(request.headers.authorization ?? '')
      answer.writeHead(503).end()
    })
    const sock = at('run', 'consensus', 'sock')
    thief.listen(sock)
    await once(thief, 'listening')
    fs.chownSync(sock, users.consensus.uid, gid)
    fs.chmodSync(sock, 0o660)
    await waitUntil(() => shown.size > 0)
    expect((await two.alpha.run(['consensus', 'list'])).exit).not.toBe(0)
    thief.close()
    await once(thief, 'close')
    return shown
  }

  test('root puts one back, and each role finds its own', async () => {
    const { alpha } = two
    const [set = ''] = sets()
    expect(await alpha.runJson(['store', 'restore', at('data', 'backups', set), '--yes'])).toMatchObject({
      roles: ['site', 'consensus'],
    })
    // What was sent since the backup is forgotten, so nothing goes out under numbers that the peer may have seen.
    expect(await listFindings()).toMatchObject([{ check: 'traffic', remedy: 'platform filedrop epoch bravo' }])
    editProfile("  backup_cron: '* * * * * *'\n", '')
    const started = await Promise.all([startSite(), startConsensus()])
    site = started[0]
    consensus = started[1]
    expect((await two.atAlpha.ok(listSessions, {})).items.length).toBeGreaterThan(0)
  })

  test('the channel sends again in its next epoch, and root’s own commands are the courier', async () => {
    const { alpha, atAlpha } = two
    await alpha.runJson(['filedrop', 'epoch', 'bravo', '--yes'])
    await openInvitedSession(atAlpha, 0.94)
    const medium = path.join(two.world.dir, 'medium')
    fs.mkdirSync(medium, { mode: 0o700 })
    let taken = 0
    // The epoch itself, and the invitation.
    await waitUntil(async () => {
      const { items } = await alpha.runJson(['filedrop', 'export', medium])
      for (const { messages } of items) taken += messages
      return taken === 2
    })
    expect(fs.readdirSync(at('filedrop', 'bravo', 'out', 'ready'))).toEqual([])
    expect(await listFindings()).toEqual([])
  })
})

test('orderly stops end with 0, root verifies the records, and dividing again finds nothing to do', async () => {
  const running = await two.alpha.run(['site', 'divide'])
  expect([running.exit, running.stderr]).toEqual([3, expect.stringContaining('is running')])
  expect(await Promise.all([site.stop(), consensus.stop()])).toEqual([0, 0])
  expect(await two.alpha.runJson(['audit', 'verify'])).toMatchObject({ whole: true })
  // Messages keep the user who brought them, until the site is divided again.
  const again = [await two.alpha.runJson(['site', 'divide']), await two.alpha.runJson(['site', 'divide'])]
  const broughtHere = fs.readdirSync(at('filedrop', 'bravo', 'in', 'done'), { recursive: true })
  expect(again).toMatchObject([{ group: gid, changes: broughtHere.length }, { changes: 0 }])
})
