// The command lines that put a command into a sandbox: pure, so that every argument can be read in a test.
import type { SandboxCommand, SandboxIsolation } from '../../../daemon/kernel/sandbox/sandbox.ts'
import { limits_script, namespaces_script } from './setup-scripts.ts'

/** The folder that is the command's own: mount point with namespaces, where its files are without. */
export type LaunchContext = {
  readonly folder: string
  /** The user that the command becomes; absent: that of this process. */
  readonly user?: SandboxUser | undefined
  /** Processes and threads that the user has already, where the kernel counts them along. */
  readonly other_processes: number
}

export type SandboxUser = { readonly uid: number; readonly gid: number }

/** Program and arguments. The folder inside is `/tmp` with namespaces. */
export function launchLine(isolation: SandboxIsolation, command: SandboxCommand, context: LaunchContext): string[] {
  return isolation === 'namespaces' ? namespacesLine(command, context) : limitsLine(command, context)
}

function namespacesLine(command: SandboxCommand, { folder, user }: LaunchContext): string[] {
  const { inputs, visible, limits } = command
  const names = Object.keys(inputs)
  const paths = [...new Set([...visible, ...(isSystemPath(command.program) ? [] : [command.program])])]
  return [
    ...['setpriv', '--pdeathsig', 'KILL', ...becoming(user), '--'],
    ...['unshare', '--user', '--map-root-user', '--mount', '--pid', '--net', '--ipc', '--uts', '--cgroup'],
    ...['--fork', '--kill-child=KILL', '--'],
    ...['sh', '-c', namespaces_script, 'sandbox', folder, `${limits.disk_bytes}`],
    ...[`${names.length}`, ...names, `${paths.length}`, ...paths],
    // The shell that waits for the command counts as well.
    ...limitedCommand(command, '/tmp', limits.processes + 1),
  ]
}

function limitsLine(command: SandboxCommand, { folder, user, other_processes }: LaunchContext): string[] {
  return [
    ...['setpriv', '--pdeathsig', 'KILL', ...becoming(user), '--no-new-privs', '--'],
    ...['sh', '-c', limits_script, 'sandbox'],
    ...limitedCommand(command, folder, command.limits.processes + other_processes),
  ]
}

function becoming(user: SandboxUser | undefined): string[] {
  return user ? ['--reuid', `${user.uid}`, '--regid', `${user.gid}`, '--clear-groups'] : []
}

function limitedCommand({ program, args, limits }: SandboxCommand, folder: string, processes: number): string[] {
  return [
    'prlimit',
    `--cpu=${limits.cpu_s}:${limits.cpu_s + 1}`,
    `--as=${limits.memory_bytes}`,
    `--fsize=${limits.disk_bytes}`,
    `--nproc=${processes}`,
    `--nofile=${limits.open_files}`,
    '--core=0',
    '--',
    program,
    ...args.map((arg) => (typeof arg === 'string' ? arg : `${folder}/${arg.input}`)),
  ]
}

/** What every command sees. */
function isSystemPath(path: string): boolean {
  return /^\/(usr|bin|sbin|lib|lib32|lib64|libx32)\//.test(path)
}
