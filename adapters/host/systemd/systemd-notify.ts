// Reports the state of the process to systemd. Node has no unix datagram sockets, so `systemd-notify` sends the message.
import { execFile } from 'node:child_process'
import type { Log } from '../../../daemon/kernel/telemetry/log.ts'

export type SystemdOptions = {
  /** NOTIFY_SOCKET as systemd gave it; undefined: not started by systemd, and every word is dropped. */
  readonly socket: string | undefined
  readonly pid: number
  readonly log: Log
  /** The messenger; found on the system's own path unless given. */
  readonly command?: string
}

export type SystemdState = 'ready' | 'stopping' | 'watchdog'

const notifyMessages: Readonly<Record<SystemdState, string>> = {
  ready: 'READY=1',
  stopping: 'STOPPING=1',
  watchdog: 'WATCHDOG=1',
}

const timeout_ms = 5_000

/**
 * `notify(state, status?)` resolves when systemd has the message, or when sending failed, which is logged and changes
 * nothing. The unit needs `NotifyAccess=all`, since the word comes from a child of the service.
 */
export function systemdNotifier({ socket, pid, log, command = 'systemd-notify' }: SystemdOptions) {
  return (state: SystemdState, status?: string): Promise<void> => {
    if (!socket) return Promise.resolve()
    const messages = [notifyMessages[state], ...(status ? [`STATUS=${status.replaceAll(/[\r\n]/g, ' ')}`] : [])]
    const env = { NOTIFY_SOCKET: socket, PATH: '/usr/bin:/bin' }
    return new Promise((resolve) => {
      execFile(command, [`--pid=${pid}`, ...messages], { env, timeout: timeout_ms }, (error) => {
        if (error) log.warn('systemd.unreachable', { state, reason: String(error.code ?? error.signal) })
        resolve()
      })
    })
  }
}
