// The screens of `platform admin` over a service whose every text is hostile.
import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { render } from 'ink'
import { createElement } from 'react'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Admin } from '../../cli/admin/screens/admin.tsx'
import { connectServiceClient } from '../../cli/client/connection.ts'
import { startLyingService } from '../support/http/lying-service.ts'
import { forged, forgedLine, hostileText, misleading } from '../support/text/hostile-text.ts'

let service: Awaited<ReturnType<typeof startLyingService>>
beforeAll(async () => {
  service = await startLyingService(hostileText.replaceAll('\ud800', ''))
})
afterAll(() => service?.close())

/** Holds the latest whole frame: Ink writes nothing else with `debug`. */
class FrameOutput extends EventEmitter {
  readonly columns = 160
  readonly rows = 60
  readonly isTTY = true
  readonly frames: string[] = []
  write = (frame: string) => {
    this.frames.push(frame)
    return true
  }
}

function typingInput() {
  return Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: () => undefined,
    ref: () => undefined,
    unref: () => undefined,
  })
}

test('no screen shows a control character, or a line that the service forged', async () => {
  const stdout = new FrameOutput()
  const stdin = typingInput()
  const source = {
    siteName: hostileText,
    roles: ['site', 'consensus', 'proxy', 'gateway'].map((name) => ({ name, url: hostileText })),
    connect: async () => connectServiceClient({ folder: undefined, url: new URL(service.url), token: 'x', env: {} }),
  }
  const screen = render(createElement(Admin, { source, hasColour: false }), {
    ...{ stdout: stdout as never, stdin: stdin as never, stderr: stdout as never },
    ...{ debug: true, exitOnCtrlC: false, patchConsole: false, interactive: true },
  })
  const shows = async (text: RegExp) => await expect.poll(() => stdout.frames.at(-1)).toMatch(text)
  await shows(/SESSIONS/)
  await shows(/DENIALS/)
  const seen: number[] = []
  for (const key of ['\r', '\u001b', '\t', '\r', '\u001b', '\t', '\r', '\u001b', '\t', '\r', '\u001b', '?', '\u001b']) {
    const count = stdout.frames.length
    stdin.write(key)
    await expect.poll(() => stdout.frames.length).toBeGreaterThan(count)
    seen.push(count)
  }
  screen.unmount()
  const frames = stdout.frames.map((frame) => stripVTControlCharacters(frame))
  expect(frames.join('\n')).toContain(forged)
  for (const frame of frames) {
    expect(frame.replaceAll('\n', ''), frame).not.toMatch(misleading)
    expect(frame, frame).not.toMatch(forgedLine)
  }
}, 60_000)
