// Sends notifications to a real Unix datagram socket, as systemd opens it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { requires } from '../../../test/support/runner/requires.ts'
import { systemdNotifier } from './systemd-notify.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'notify-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function recordingLog() {
  const warnings: unknown[] = []
  const nothing = () => undefined
  return {
    warnings,
    log: {
      debug: nothing,
      info: nothing,
      error: nothing,
      warn: (event: string, fields?: unknown) => void warnings.push([event, fields]),
    },
  }
}

/** A datagram socket in Python, since Node has none: prints each datagram as one line of JSON, ignores barriers. */
const receiver = `
import json, socket, sys, os
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print('bound', flush=True)
while True:
    data, fds, flags, addr = socket.recv_fds(s, 65536, 8)
    for fd in fds: os.close(fd)
    print(json.dumps(data.decode()), flush=True)
`

describe('under systemd', () => {
  requires('systemd-notify', 'python3')('notifications arrive with the pid of the service', async () => {
    const socket = path.join(folder, 'notify.sock')
    const python = spawn('python3', ['-c', receiver, socket], { stdio: ['ignore', 'pipe', 'inherit'] })
    let received = ''
    python.stdout.setEncoding('utf8').on('data', (text: string) => {
      received += text
    })
    try {
      await expect.poll(() => received, { timeout: 20_000 }).toContain('bound')
      const { log, warnings } = recordingLog()
      const notify = systemdNotifier({ socket, pid: process.pid, log })
      await notify('ready', 'serving 3 roles\nFORGED=1')
      await notify('watchdog')
      await notify('stopping')
      await expect.poll(() => received, { timeout: 20_000 }).toContain('STOPPING=1')
      expect(warnings).toEqual([])
      expect(received).toContain('READY=1')
      expect(received).toContain('WATCHDOG=1')
      expect(received).toContain(`MAINPID=${process.pid}`)
      expect(received).toContain('STATUS=serving 3 roles FORGED=1')
    } finally {
      python.kill()
      await once(python, 'exit')
    }
  })
})

describe('without systemd', () => {
  test('nothing is sent, and no command is run', async () => {
    const { log, warnings } = recordingLog()
    await systemdNotifier({ socket: undefined, pid: 1, log, command: '/nonexistent' })('ready')
    expect(warnings).toEqual([])
  })

  test('a missing systemd-notify command is a warning, not a failure', async () => {
    const { log, warnings } = recordingLog()
    await systemdNotifier({ socket: '/nonexistent', pid: 1, log, command: '/nonexistent' })('ready')
    expect(warnings).toEqual([['systemd.unreachable', { state: 'ready', reason: 'ENOENT' }]])
  })
})
