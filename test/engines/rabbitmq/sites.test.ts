// Two packaged sites and a broker between them, as operators run them: a session ratified while broker and daemons are killed.
import { afterAll, beforeAll, expect } from 'vitest'
import { quarantined } from '../../sites/courier.ts'
import { ask, channelOf, inState, say, seen, type Two, twoSites } from '../../sites/question.ts'
import { type Rabbitmq, rabbitmqWanted } from '../../support/engines/rabbitmq.ts'
import { type Certificates, serverCertificates } from '../../support/engines/server-certificates.ts'
import { type Daemon, edit } from '../../support/packaged-sites.ts'
import { whenPresent } from '../../support/requires.ts'
import { until } from '../../support/site-world.ts'
import { brokerOf } from './by-broker.ts'

const test = whenPresent(rabbitmqWanted)
let broker: Rabbitmq
let files: Certificates
let two: Two
let daemons: { alpha: Daemon; bravo: Daemon }
beforeAll(async () => {
  if (!rabbitmqWanted.isPresent) return
  files = serverCertificates('server', 'bravo')
  broker = await brokerOf(files.of('server'))
  two = await twoSites()
  const at = { url: `amqps://localhost:${broker.tls_port}`, tls_ca_file: files.of('server').ca }
  const { cert, key } = files.of('bravo')
  // One by its password, the other by its certificate.
  edit(two.alpha, { amqp: { ...at, user: 'alpha', password: broker.password, peers: { bravo: { user: 'bravo' } } } })
  const byCertificate = { tls_cert_file: cert, tls_key_file: key, peers: { alpha: { user: 'alpha' } } }
  edit(two.bravo, { amqp: { ...at, user: 'bravo', ...byCertificate } })
  await broker.start()
  const [alpha, bravo] = await Promise.all([two.alpha.start(), two.bravo.start()])
  daemons = { alpha, bravo }
})
afterAll(async () => {
  await two?.world.end()
  await broker?.end()
  files?.dispose()
})

/** Slower than other waits: a broker comes up meanwhile, and is tried again with growing pauses. */
async function eventually<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await until(look)
    } catch (error) {
      if (attempt === 6) throw error
    }
  }
}

async function ratified(id: string): Promise<void> {
  await eventually(async () => (await seen(two.atBravo, id)) !== undefined)
  await say(two.atBravo, id, 'bob', 0.93)
  await eventually(async () => (await seen(two.atAlpha, id))?.state === 'RATIFIED')
  await eventually(async () => (await seen(two.atBravo, id))?.state === 'RATIFIED')
}

test('a session is invited to, contributed to and ratified by way of the broker', async () => {
  await ratified(await ask(two.atAlpha, 0.94))
  expect(await channelOf(two.atAlpha, 'bravo', 'in')).toMatchObject({ transport: 'amqp', state: 'open' })
  const health = JSON.stringify(await two.alpha.answered(['status']))
  expect(health).toContain('amqp')
})

test('and so are those that the broker, and then each daemon, is killed over', async () => {
  const first = await ask(two.atAlpha, 0.95)
  await broker.kill()
  const second = await ask(two.atAlpha, 0.92)
  await daemons.alpha.kill()
  await broker.start()
  daemons.alpha = await two.alpha.start()
  await eventually(async () => (await seen(two.atBravo, second)) !== undefined)
  await say(two.atBravo, second, 'bob', 0.91)
  await daemons.bravo.kill()
  daemons.bravo = await two.bravo.start()
  await Promise.all([ratified(first), eventually(async () => (await seen(two.atAlpha, second))?.state === 'RATIFIED')])
  await inState(two.atBravo, second, 'RATIFIED')
  for (const [person, road] of [
    [two.atAlpha, two.back],
    [two.atBravo, two.there],
  ] as const) {
    expect(quarantined(road)).toEqual([])
    expect(await channelOf(person, road.from.name, 'in')).toMatchObject({ quarantined: 0, gaps: 0 })
  }
  for (const id of [first, second])
    expect(await seen(two.atAlpha, id)).toMatchObject({ contributors: 2, contributions: 2 })
})

test('no log of either site has the password', () => {
  for (const { log } of [daemons.alpha, daemons.bravo]) expect(log()).not.toContain(broker.password)
  expect(daemons.alpha.log()).toContain('carrier.broker.reads')
})
