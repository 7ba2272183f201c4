// A full queue drops and counts exactly; a layer that is off observes, stores and changes nothing.
import { describe, expect, test } from 'vitest'
import { admin, buildEnvelope, emitter, setUpGuide } from '../guide-site.ts'
import { guideCollections } from './graph-world.ts'

describe('a queue of five', () => {
  const stage = setUpGuide({ ingest_queue_maxsize: 5 })

  test('drops what does not fit, and every accepted envelope is stored', async () => {
    const observations = Array.from({ length: 40 }, (_, at) => buildEnvelope(at + 1, { service: 'gateway' }))
    const { body } = await stage().post(emitter, { observations })
    expect(body).toEqual({ accepted: 5, dropped: 35 })
    expect(await stage().waitForStored(5)).toHaveLength(5)
    const { ingest } = (await stage().request(admin, 'GET', '/api/v1/guide/stats')).body
    expect(ingest.services).toMatchObject([{ service: 'gateway', accepted: 5, dropped: 35 }])
    const token = await stage().site.token(admin)
    const metrics = await stage().site.call('gateway', 'GET', '/metrics', undefined, { token })
    expect(metrics.text).toContain('guide_ingest_accepted_total{service="gateway"} 5')
    expect(metrics.text).toContain('guide_ingest_queue_dropped_total{service="gateway"} 35')
  })
})

describe('a layer that is off', () => {
  const stage = setUpGuide({ enabled: false })

  test('takes nothing and changes nothing', async () => {
    expect((await stage().post(emitter, buildEnvelope(1))).body).toEqual({ accepted: 0, dropped: 0 })
    await stage().request(emitter, 'POST', '/api/v1/chat', { message: 'hello' })
    expect((await stage().request(admin, 'POST', '/api/v1/guide/memories', buildEnvelope(1))).status).toBe(403)
    for (const worker of ['ingest-observations', 'maintain-guidance']) stage().site.wakeWorker('gateway', worker)
    const store = stage().site.store('gateway')
    for (const each of guideCollections) expect(await store.count(each), each.name).toBe(0)
  })
})
