// The terminal screen over a public proxy that runs alone: refused requests, as they happen.
import { afterAll, beforeAll, expect } from 'vitest'
import { findExecutable } from '../support/command/run-executable.ts'
import { createPackagedProxy, type PackagedProxy, sendProxyRequest } from '../support/proxy/packaged-proxy.ts'
import { requires } from '../support/runner/requires.ts'
import type { ServedSite } from '../support/site/packaged-site.ts'
import { openTmuxScreen } from './tmux-screen.ts'

let proxy: PackagedProxy
let served: ServedSite
beforeAll(async () => {
  proxy = await createPackagedProxy(['GET /api/v1/report'])
  served = await proxy.serve()
})
afterAll(async () => {
  await served?.stop()
  await proxy?.close()
})

requires('tmux')('shows what was refused most often, why, and whom it last counted for', async () => {
  const screen = openTmuxScreen({ ...proxy.env, PLATFORM: findExecutable(), PLATFORM_SITE: proxy.site.dir })
  try {
    screen.type('"$PLATFORM" admin; echo "ended:$?"')
    const first = await screen.waitFor(/no denied requests/)
    expect(first).toMatch(/DENIALS of 0 since /)
    expect(first).not.toMatch(/SESSIONS|CHANNELS/)
    for (let at = 0; at < 3; at += 1)
      await sendProxyRequest(served, '/public-api/hidden/admin', { source: '192.0.2.77' })
    await sendProxyRequest(served, '/public-api/api/v1/%1b[2Jreport')
    await screen.waitFor(/3 +no_rule +GET +\/hidden\/admin +192\.0\.2\.77/)
    await screen.waitFor(/1 +(path_character|control_escape) +GET/)
    screen.press('Home', 'Enter')
    expect(await screen.waitFor(/^last source +192/m)).toMatch(/^path +\/hidden\/admin/m)
    screen.press('q')
    await screen.waitFor(/ended:0$/m)
  } finally {
    screen.close()
  }
})
