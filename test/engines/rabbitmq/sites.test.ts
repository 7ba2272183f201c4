// Two packaged sites and a broker between them, as operators run them: a session ratified while broker and daemons are killed.
import { afterAll, beforeAll, expect } from 'vitest'
import { type Rabbitmq, rabbitmqRequirement } from '../../support/engines/rabbitmq.ts'
import { issueServerCertificates, type ServerCertificateSet } from '../../support/engines/server-certificates.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { listQuarantined } from '../../support/site/courier.ts'
import type { RunningDaemon } from '../../support/site/daemon-process.ts'
import { editProfile } from '../../support/site/packaged-federation.ts'
import {
  contributeOpinion,
  createPackagedSitePair,
  findChannel,
  findSession,
  openInvitedSession,
  type PackagedSitePair,
  waitForState,
} from '../../support/site/packaged-site-pair.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { createBroker } from './join-by-broker.ts'

const test = whenPresent(rabbitmqRequirement)
let broker: Rabbitmq
let certificates: ServerCertificateSet
let two: PackagedSitePair
let daemons: { alpha: RunningDaemon; bravo: RunningDaemon }
beforeAll(async () => {
  if (!rabbitmqRequirement.isPresent) return
  certificates = issueServerCertificates('server', 'bravo')
  broker = await createBroker(certificates.of('server'))
  two = await createPackagedSitePair()
  const at = { url: `amqps://localhost:${broker.tls_port}`, tls_ca_file: certificates.of('server').ca }
  const { cert, key } = certificates.of('bravo')
  // One by its password, the other by its certificate.
  editProfile(two.alpha, {
    amqp: { ...at, user: 'alpha', password: broker.password, peers: { bravo: { user: 'bravo' } } },
  })
  const byCertificate = { tls_cert_file: cert, tls_key_file: key, peers: { alpha: { user: 'alpha' } } }
  editProfile(two.bravo, { amqp: { ...at, user: 'bravo', ...byCertificate } })
  await broker.start()
  const [alpha, bravo] = await Promise.all([two.alpha.start(), two.bravo.start()])
  daemons = { alpha, bravo }
})
afterAll(async () => {
  await two?.world.end()
  await broker?.end()
  certificates?.dispose()
})

/** Slower than other waits: a broker comes up meanwhile, and is tried again with growing pauses. */
async function waitLong<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await waitUntil(look)
    } catch (error) {
      if (attempt === 6) throw error
    }
  }
}

async function waitUntilRatified(id: string): Promise<void> {
  await waitLong(async () => (await findSession(two.atBravo, id)) !== undefined)
  await contributeOpinion(two.atBravo, id, 'bob', 0.93)
  await waitLong(async () => (await findSession(two.atAlpha, id))?.state === 'RATIFIED')
  await waitLong(async () => (await findSession(two.atBravo, id))?.state === 'RATIFIED')
}

test('a session is invited to, contributed to and ratified by way of the broker', async () => {
  await waitUntilRatified(await openInvitedSession(two.atAlpha, 0.94))
  expect(await findChannel(two.atAlpha, 'bravo', 'in')).toMatchObject({ transport: 'amqp', state: 'open' })
  const health = JSON.stringify(await two.alpha.runJson(['status']))
  expect(health).toContain('amqp')
})

test('and so are those that the broker, and then each daemon, is killed over', async () => {
  const first = await openInvitedSession(two.atAlpha, 0.95)
  await broker.kill()
  const second = await openInvitedSession(two.atAlpha, 0.92)
  await daemons.alpha.kill()
  await broker.start()
  daemons.alpha = await two.alpha.start()
  await waitLong(async () => (await findSession(two.atBravo, second)) !== undefined)
  await contributeOpinion(two.atBravo, second, 'bob', 0.91)
  await daemons.bravo.kill()
  daemons.bravo = await two.bravo.start()
  await Promise.all([
    waitUntilRatified(first),
    waitLong(async () => (await findSession(two.atAlpha, second))?.state === 'RATIFIED'),
  ])
  await waitForState(two.atBravo, second, 'RATIFIED')
  for (const [person, road] of [
    [two.atAlpha, two.toAlpha],
    [two.atBravo, two.toBravo],
  ] as const) {
    expect(listQuarantined(road)).toEqual([])
    expect(await findChannel(person, road.from.name, 'in')).toMatchObject({ quarantined: 0, gaps: 0 })
  }
  for (const id of [first, second])
    expect(await findSession(two.atAlpha, id)).toMatchObject({ contributors: 2, contributions: 2 })
})

test('no log of either site has the password', () => {
  for (const { log } of [daemons.alpha, daemons.bravo]) expect(log()).not.toContain(broker.password)
  expect(daemons.alpha.log()).toContain('carrier.broker.resumed')
})
