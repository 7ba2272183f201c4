// Runs attacks of insiders over one honest site that lives through all of them: each message has its reason, what is not
// the peer’s stays as it was, an alarm names the lie, and the peer’s honest messages count as before.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { examineSite } from '../../../daemon/offline/doctor/examine-site.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { type AttackedSite, startAttackedSite } from './attacked-site.ts'
import {
  buildInvitation,
  buildOpinion,
  type InsiderAttack,
  type InsiderStage,
  nextSessionId,
} from './insider-attack.ts'

export function describeInsiderAttacks(subject: string, attacks: readonly InsiderAttack[]): void {
  const peerOf = (attack: InsiderAttack) => `peer-${attacks.indexOf(attack) + 1}`
  let world: AttackedSite
  let shared: Pick<InsiderStage, 'world' | 'bystander' | 'bystander_session' | 'followed_session'>
  beforeAll(async () => {
    world = await startAttackedSite(['charlie', ...attacks.map(peerOf)])
    shared = { world, ...(await setBystander(world)) }
  })
  afterAll(() => world?.end())

  describe(`an insider and ${subject}:`, () => {
    test.for(attacks.map((attack) => [attack.name, attack] as const))('%s', async ([, attack]) => {
      const peer = world.peer(peerOf(attack))
      const stage = { ...shared, peer, session: await world.openSession(peer) }
      await expectHonestMessage(stage)
      const before = await readBystander(stage)
      await attack.act(stage)
      await expectOutcome(stage, attack)
      await attack.holds?.(stage)
      expect(await readBystander(stage)).toEqual(before)
    })

    test('the doctor names each frozen channel, and each one with messages in quarantine', async () => {
      const { folder, clock } = world.site
      const findings = await examineSite(folder, {}, clock.now(), () => undefined)
      const details = findings.map(({ detail }) => detail)
      const frozen = attacks.filter(({ isFrozen }) => isFrozen).map(peerOf)
      for (const name of frozen) expect(details).toContainEqual(expect.stringMatching(`from ${name} is frozen: `))
      for (const name of attacks.filter(({ quarantined = [] }) => quarantined.length > 0).map(peerOf))
        expect(details).toContainEqual(expect.stringMatching(`^${name}: \\d+ items? in quarantine`))
    })

    test('the site has raised no error but alarms', () => {
      expect(world.site.loggedErrors.filter((text) => !alarmEvents.test(text))).toEqual([])
    })
  })
}

const alarmEvents =
  /^(filedrop\.channel\.(equivocation|frozen)|site\.keyset\.forked|site\.peerhead\.\w+|consensus\.[\w.-]+) /

/** An honest peer with a vote here, and a session of its own. */
async function setBystander(world: AttackedSite) {
  const bystander = world.peer('charlie')
  const bystander_session = await world.openSession(bystander)
  await expectHonestMessage({ world, peer: bystander, session: bystander_session })
  const followed_session = nextSessionId()
  await bystander.send('invitation', buildInvitation(bystander, followed_session))
  await waitUntil(() => world.readSession(followed_session).then(Boolean, () => false))
  return { bystander, bystander_session, followed_session }
}

/** An honest vote by the peer, which counts. */
async function expectHonestMessage(stage: Pick<InsiderStage, 'world' | 'peer' | 'session'>): Promise<void> {
  const { world, peer, session } = stage
  const { envelope } = await peer.send('contribution', buildOpinion(stage, session))
  const { msg_id } = JSON.parse(Buffer.from(envelope.payload, 'base64url').toString('utf8'))
  await waitUntil(async () => (await world.listContributionIds(session)).includes(msg_id))
}

async function expectOutcome(stage: InsiderStage, attack: InsiderAttack): Promise<void> {
  const { world, peer } = stage
  const { quarantined = [], alarms = [] } = attack
  await waitUntil(() => world.listReasons(peer).length >= quarantined.length)
  if (attack.isFrozen) await waitUntil(async () => (await world.readChannel(peer)).state === 'frozen')
  else await expectHonestMessage(stage)
  expect(world.listReasons(peer)).toEqual(quarantined)
  expect(await world.readChannel(peer)).toMatchObject({ state: attack.isFrozen ? 'frozen' : 'open' })
  const names = new RegExp(`[":/]${peer.name}["/]`)
  const refusals = await world.listAudit('site', 'filedrop.message.quarantined')
  expect(refusals.filter((text) => names.test(text))).toHaveLength(quarantined.length)
  for (const alarm of alarms) {
    const [role = '', action = ''] = alarm.split(' ')
    // Some follow the message that they are about.
    await waitUntil(async () => (await world.listAudit(role, action)).some((text) => names.test(text)))
  }
}

/** What no other peer may change. */
async function readBystander({ world, bystander, bystander_session, followed_session }: InsiderStage) {
  return {
    hosted: await world.readSession(bystander_session),
    followed: await world.readSession(followed_session),
    reasons: world.listReasons(bystander),
  }
}
