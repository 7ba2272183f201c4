// Signals over HTTP: what a sender may say, what becomes of it, and who finds it again.
import { describe, expect, test } from 'vitest'
import { sha256 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { acknowledge } from '../../../daemon/roles/intelligence/signal/acknowledge.ts'
import { archive } from '../../../daemon/roles/intelligence/signal/archive.ts'
import { byEntity } from '../../../daemon/roles/intelligence/signal/by-entity.ts'
import { create } from '../../../daemon/roles/intelligence/signal/create.ts'
import { get } from '../../../daemon/roles/intelligence/signal/get.ts'
import { list } from '../../../daemon/roles/intelligence/signal/list.ts'
import { signals } from '../../../daemon/roles/intelligence/signal/model.ts'
import { setDisposition } from '../../../daemon/roles/intelligence/signal/set-disposition.ts'
import { signalId } from '../../../daemon/roles/intelligence/signal/store-new-signal.ts'
import { buildSignalInput, raiseSignal, setUpIntelligenceSite } from './intelligence-site.ts'

const world = setUpIntelligenceSite({ expiry_days_by_type: { weather: 2 } })
const day_ms = 86_400_000

describe('a signal that is raised', () => {
  test('is new, under a short id, with its content and its author', async () => {
    const ann = await world().as()
    const made = await ann.ok(create, buildSignalInput({ metadata: { speed_kn: 3 }, confidence: 0.4 }))
    expect(made.uid).toMatch(/^sig_[0-9a-f]{12}$/)
    expect(made).toMatchObject({
      signal_id: made.uid,
      schema_version: '1.1',
      status: 'new',
      actor: { type: 'person', id: 'ann' },
      created_by: 'ann',
      metadata: { speed_kn: 3, status_history: [] },
      linked_insight_ids: [],
      stripped_fields: [],
    })
    const { stripped_fields: _none, ...rest } = made
    expect(await ann.ok(get, { uid: made.uid })).toEqual(rest)
  })

  test('may be sent back as it was read: fields of the service are removed, and named', async () => {
    const ann = await world().as()
    const { stripped_fields: _none, classification: _label, ...read } = await ann.ok(create, buildSignalInput())
    const forged = {
      ...read,
      status: 'resolved' as const,
      acknowledged_by: 'mallory',
      metadata: { speed_kn: 3, status_history: [], resolved_by_edition: 'edn_1', archived: true },
    }
    const made = await ann.ok(create, forged)
    expect(made).toMatchObject({ status: 'new', metadata: { speed_kn: 3, status_history: [] }, version: 1 })
    expect(made.uid).not.toBe(read.uid)
    expect(made).not.toHaveProperty('acknowledged_by')
    expect(made.metadata).not.toHaveProperty('archived')
    expect(made.stripped_fields).toEqual(
      [
        ...['acknowledged_by', 'created_at', 'created_by', 'linked_insight_ids', 'signal_id', 'status'],
        ...['visibility', 'tenant_id'],
        ...['schema_version', 'uid', 'updated_at', 'version'],
        ...['metadata.archived', 'metadata.resolved_by_edition', 'metadata.status_history'],
      ].sort(),
    )
  })

  test('is about one subject, in either spelling', async () => {
    const ann = await world().as()
    const { subject: _none, ...rest } = buildSignalInput()
    const ref = { type: 'person' as const, id: 'p1', display_name: 'Ada' }
    const { subject } = await ann.ok(create, { ...rest, subject_ref: ref })
    expect(subject).toEqual({ type: 'person', id: 'p1', name: 'Ada' })
    for (const wrong of [
      rest,
      { ...rest, subject: { type: 'person' as const, id: 'p1' } },
      { ...rest, subject: { type: 'person' as const, id: 'p2', name: 'Ada' }, subject_ref: ref },
      { ...rest, subject: { ...ref, name: 'Eve' } },
    ]) {
      const { problem } = await ann.call(create, wrong)
      expect(problem).toMatchObject({ status: 422, code: 'invalid' })
      expect(problem?.errors[0]?.path).toMatch(/^subject/)
    }
  })

  test('is refused with a status, a time or a confidence that cannot be', async () => {
    const ann = await world().as()
    const ahead = new Date(world().clock.now() + 2 * day_ms).toISOString()
    for (const wrong of [
      { status: 'suppressed' },
      { severity: 'urgent' },
      { source: { type: 'rumour' } },
      { detected_at: ahead },
      { detected_at: 'yesterday' },
      { confidence: 1.01 },
      { title: '  ' },
    ]) {
      expect(await ann.refusal(create, { ...buildSignalInput(), ...(wrong as object) })).toBe('invalid')
    }
  })

  test('has times in UTC, and an end by its type where it says none', async () => {
    const ann = await world().as()
    const made = await ann.ok(create, buildSignalInput({ detected_at: '2026-03-02T12:30:00.5+02:00' }))
    expect(made.detected_at).toBe('2026-03-02T10:30:00.500Z')
    const ends = async (signal_type: string) =>
      Date.parse((await ann.ok(create, buildSignalInput({ signal_type }))).expires_at) - world().clock.now()
    expect([await ends('weather'), await ends('constructor')]).toEqual([2 * day_ms, 30 * day_ms])
  })

  test('carries the join of its own label with those of the signals it is related to', async () => {
    const ann = await world().as({ clearance: { level: 'SECRET', categories: ['A'] } })
    const low = await world().as({ subject: 'lou', clearance: { level: 'UNCLASSIFIED' } })
    const high = await raiseSignal(ann, { classification: { level: 'SECRET', categories: ['A'] } })
    const made = await ann.ok(create, buildSignalInput({ classification: 'RESTRICTED', related_signals: [high, high] }))
    expect(made.classification).toMatchObject({ level: 'SECRET', categories: ['A'] })
    expect(made.related_signals).toEqual([high])
    expect(await low.refusal(get, { uid: made.uid })).toBe('not_found')
    expect(await low.refusal(create, buildSignalInput({ related_signals: [high] }))).toBe('not_found')
    expect(await low.refusal(create, buildSignalInput({ classification: 'SECRET' }))).toBe('label_denied')
    expect((await low.ok(byEntity, { entity_id: 'ship-1', limit: 500 })).items.map(({ uid }) => uid)).not.toContain(
      high,
    )
  })
})

describe('an id that is taken', () => {
  /** The key of a request, as the kernel makes it of tenant, subject, address and the client's key. */
  const keyOf = (key: string) =>
    `sig_${sha256(JSON.stringify(['tenant-a', 'ann', 'intelligence.signal.create', key])).slice(0, 32)}`

  test.each(['tenant-a', 'tenant-b'])(
    'by a signal of %s gives way to another, which a repeat finds',
    async (tenant_id) => {
      const ann = await world().as()
      const store = world().store('intelligence')
      const { value } = (await store.get(signals, await raiseSignal(ann))) ?? {}
      if (!value) throw new Error('it is not there')
      const key = `collides-in-${tenant_id}`
      const taken = signalId(keyOf(key), 0)
      await store.create(signals, taken, { ...value, tenant_id, title: 'another' })
      const headers = { 'idempotency-key': key }
      const made = await ann.ok(create, buildSignalInput(), headers)
      expect(made.uid).toBe(signalId(keyOf(key), 1))
      expect((await ann.ok(create, buildSignalInput(), headers)).uid).toBe(made.uid)
      expect(await ann.refusal(create, buildSignalInput({ title: 'other' }), headers)).toBe('idempotency_mismatch')
      expect((await store.get(signals, taken))?.value.title).toBe('another')
    },
  )

  test('a repeat of the request under a label above the caller makes no second signal', async () => {
    const ann = await world().as()
    const lower = await world().as({ clearance: { level: 'UNCLASSIFIED' } })
    const headers = { 'idempotency-key': 'from-above' }
    await ann.ok(create, buildSignalInput({ classification: 'SECRET' }), headers)
    expect(await lower.refusal(create, buildSignalInput(), headers)).toBe('not_found')
  })

  test('one create sent twenty times at once under one key makes one signal', async () => {
    const ann = await world().as()
    const headers = { 'idempotency-key': 'twenty' }
    const made = await Promise.all(Array.from({ length: 20 }, () => ann.ok(create, buildSignalInput(), headers)))
    expect(new Set(made.map(({ uid }) => uid)).size).toBe(1)
  })
})

test('commands take a signal to its end, and say what was not theirs to set', async () => {
  const ann = await world().as()
  const uid = await raiseSignal(ann)
  const seen = await ann.ok(acknowledge, { uid, note: 'on it', status: 'resolved', metadata: { mine: 1 } })
  expect(seen).toMatchObject({ status: 'acknowledged', acknowledged_by: 'ann', acknowledgment_note: 'on it' })
  expect(seen.stripped_fields).toEqual(['metadata.mine', 'status'])
  expect(seen.metadata).not.toHaveProperty('mine')
  const { problem } = await ann.call(setDisposition, { uid, disposition: 'resolved', rationale: 'quick' })
  expect(problem).toMatchObject({ status: 409, code: 'wrong_state' })
  expect(problem?.detail).toContain('may become investigating, dismissed')
  const put_away = await ann.ok(archive, { uid, rationale: 'a buoy' })
  expect(put_away).toMatchObject({ status: 'dismissed', metadata: { archived: true, archived_by: 'ann' } })
  expect(put_away.metadata.status_history.map(({ to }) => to)).toEqual(['acknowledged', 'dismissed'])
  expect(await ann.refusal(acknowledge, { uid })).toBe('wrong_state')
  expect(await ann.refusal(setDisposition, { uid, disposition: 'suppressed' as 'dismissed', rationale: 'x' })).toBe(
    'invalid',
  )
})

test('of ten callers who hold the same ETag one disposes of the signal', async () => {
  const ann = await world().as()
  const uid = await raiseSignal(ann)
  const codes = await Promise.all(
    Array.from({ length: 10 }, (_, n) =>
      ann.refusal(setDisposition, { uid, disposition: 'dismissed', rationale: `${n}` }, { 'if-match': '"1"' }),
    ),
  )
  expect(codes.toSorted()).toEqual([200, ...Array.from({ length: 9 }, () => 'precondition_failed')])
})

test('lists filter by status, severity, type, subject and time, the latest first, a page after the other', async () => {
  const ann = await world().as()
  const at = (hour: number) => `2026-02-0${hour}T00:00:00.000Z`
  const about = { type: 'sensor' as const, id: 'mast-7', name: 'Mast 7' }
  const made: string[] = []
  for (const hour of [3, 1, 2, 4]) {
    const more = { severity: hour > 2 ? ('critical' as const) : ('info' as const), signal_type: `kind-${hour % 2}` }
    made.push(await raiseSignal(ann, { subject: about, detected_at: at(hour), ...more }))
  }
  await ann.ok(acknowledge, { uid: made[0] ?? '' })
  const hours = async (query: Parameters<typeof list.run>[1] | object) =>
    (await ann.ok(list, { subject_id: about.id, ...query })).items.map(({ detected_at }) => Number(detected_at[9]))
  expect(await hours({})).toEqual([4, 3, 2, 1])
  expect(await hours({ status: 'acknowledged' })).toEqual([3])
  expect(await hours({ severity: 'critical' })).toEqual([4, 3])
  expect(await hours({ signal_type: 'kind-1', severity: 'info' })).toEqual([1])
  expect(await hours({ since: '2026-02-02T01:00:00+01:00', until: at(4) })).toEqual([3, 2])
  const first = await ann.ok(byEntity, { entity_id: about.id, limit: 3 })
  const rest = await ann.ok(byEntity, { entity_id: about.id, limit: 3, cursor: first.next_cursor })
  expect([...first.items, ...rest.items].map(({ uid }) => uid)).toEqual([3, 0, 2, 1].map((n) => made[n]))
})

test('an expired open signal is marked, and stays', async () => {
  const ann = await world().as()
  const ends = { expires_at: new Date(world().clock.now() + 5_000).toISOString() }
  const [left, done] = [await raiseSignal(ann, ends), await raiseSignal(ann, ends)]
  await ann.ok(archive, { uid: done })
  world().clock.advance(6_000)
  world().wakeWorker('intelligence', 'expiry')
  await expect.poll(async () => (await ann.ok(get, { uid: left })).metadata.expired_at).toBeDefined()
  expect(await ann.ok(get, { uid: left })).toMatchObject({ status: 'new' })
  expect((await ann.ok(get, { uid: done })).metadata).not.toHaveProperty('expired_at')
  await ann.ok(acknowledge, { uid: left })
})
