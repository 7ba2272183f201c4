// The public door as it is packaged: one thin thread from caller to platform, with its token, its count and its record.
import { afterEach, expect, test } from 'vitest'
import { ask, type Door, publicDoor, serviceToken } from '../support/public-door.ts'
import type { Served } from '../support/packaged-site.ts'

let door: Door | undefined
let served: Served | undefined
afterEach(async () => {
  await served?.stop()
  await door?.close()
  served = undefined
  door = undefined
})

test('a listed request goes through with the token, and is counted and recorded', async () => {
  door = await publicDoor(['GET /api/v1/report/{id}'])
  served = await door.serve()
  const answer = await ask(served, '/public-api/api/v1/report/7?year=2026', { token: 'the-callers-own' })
  expect([answer.status, answer.text]).toEqual([200, '{"ok":1}\n'])
  expect(door.platform.asked).toHaveLength(1)
  expect(door.platform.asked[0]).toMatchObject({ method: 'GET', url: '/api/v1/report/7?year=2026' })
  expect(door.platform.asked[0]?.headers).toMatchObject({
    authorization: `Bearer ${serviceToken}`,
    'x-forwarded-for': '192.0.2.1',
    host: `127.0.0.1:${door.platform.port}`,
  })
  console.log(answer, served.log())
})
