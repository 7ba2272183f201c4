// The terminal screen over a public door that runs alone: what it refuses, as it happens.
import { afterAll, beforeAll, expect } from 'vitest'
import { executable, type Served } from '../support/packaged-site.ts'
import { ask, type Door, publicDoor } from '../support/public-door.ts'
import { requires } from '../support/requires.ts'
import { tmuxScreen } from './tmux-screen.ts'

let door: Door
let served: Served
beforeAll(async () => {
  door = await publicDoor(['GET /api/v1/report'])
  served = await door.serve()
})
afterAll(async () => {
  await served?.stop()
  await door?.close()
})

requires('tmux')('shows what was refused most often, why, and whom it last counted for', async () => {
  const screen = tmuxScreen({ ...door.env, PLATFORM: executable(), PLATFORM_SITE: door.site.dir })
  try {
    screen.type('"$PLATFORM" admin; echo "ended:$?"')
    const first = await screen.shows(/nothing was denied/)
    expect(first).toMatch(/DENIALS of 0 since /)
    expect(first).not.toMatch(/SESSIONS|CHANNELS/)
    for (let at = 0; at < 3; at += 1) await ask(served, '/public-api/hidden/admin', { source: '192.0.2.77' })
    await ask(served, '/public-api/api/v1/%1b[2Jreport')
    await screen.shows(/3 +no_rule +GET +\/hidden\/admin +192\.0\.2\.77/)
    await screen.shows(/1 +(path_character|control_escape) +GET/)
    screen.press('Home', 'Enter')
    expect(await screen.shows(/^last source +192/m)).toMatch(/^path +\/hidden\/admin/m)
    screen.press('q')
    await screen.shows(/^ended:0$/m)
  } finally {
    screen.close()
  }
})
