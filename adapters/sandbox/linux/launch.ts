// The command lines that put a command into a sandbox: pure, so that every argument can be read in a test.
import type {
  SandboxCommand,
  SandboxIsolation,
  SandboxProcessLimits,
  SandboxServer,
} from '../../../daemon/kernel/sandbox/sandbox.ts'
import type { SandboxUser } from './sandbox-user.ts'
import { group_script, limits_script, namespaces_script, start_script } from './setup-scripts.ts'

export type LaunchContext = {
  /** The folder that is the command's own: mount point with namespaces, where its files are without. */
  readonly folder: string
  /** The user that the command becomes; absent: that of this process. */
  readonly user?: SandboxUser | undefined
  /** A file of a control group, which the command enters before all else. */
  readonly group_entry?: string | undefined
  /** Processes and threads that the user has already, where the kernel counts them along. */
  readonly other_processes: number
}

/** A server is on the machine for long: the site's own work comes first. */
const server_niceness = 5

/** Processes of the setup that live beside the command in its namespaces. */
export const setup_processes = 2

/** Program and arguments. The folder inside is `/tmp` with namespaces. */
export function launchLine(
  isolation: SandboxIsolation,
  command: SandboxCommand | SandboxServer,
  context: LaunchContext,
): string[] {
  const contained = isolation === 'namespaces' ? namespacesLine(command, context) : limitsLine(command, context)
  const line = 'network' in command ? ['nice', '-n', `${server_niceness}`, ...contained] : contained
  return context.group_entry === undefined ? line : ['sh', '-c', group_script, context.group_entry, ...line]
}

/** Runs a tool with the rights of the command. */
export function userLine(user: SandboxUser | undefined, ...line: readonly string[]): string[] {
  return ['setpriv', ...becoming(user), '--', ...line]
}

function namespacesLine(command: SandboxCommand | SandboxServer, { folder, user }: LaunchContext): string[] {
  const { inputs, visible, limits } = command
  const names = Object.keys(inputs)
  const paths = [...new Set([...visible, ...(isSystemPath(command.program) ? [] : [command.program])])]
  const ownNetwork = 'network' in command && command.network === 'machine' ? [] : ['--net']
  return [
    ...['setpriv', '--pdeathsig', 'KILL', ...becoming(user), '--'],
    ...['unshare', '--user', '--map-root-user', '--mount', '--pid', ...ownNetwork, '--ipc', '--uts', '--cgroup'],
    ...['--fork', '--kill-child=KILL', '--'],
    ...['sh', '-c', namespaces_script, 'sandbox', folder, `${limits.disk_bytes}`, `${countFiles(limits)}`],
    ...[`${names.length}`, ...names, `${paths.length}`, ...paths],
    // The shell that waits for the command counts as well.
    ...limitedCommand(command, '/tmp', limits.processes + 1),
  ]
}

function limitsLine(
  command: SandboxCommand | SandboxServer,
  { folder, user, other_processes }: LaunchContext,
): string[] {
  return [
    ...['setpriv', '--pdeathsig', 'KILL', ...becoming(user), '--no-new-privs', '--'],
    ...['sh', '-c', limits_script, 'sandbox'],
    ...limitedCommand(command, folder, command.limits.processes + other_processes),
  ]
}

function becoming(user: SandboxUser | undefined): string[] {
  return user ? ['--reuid', `${user.uid}`, '--regid', `${user.gid}`, '--clear-groups'] : []
}

/** Queues and locked memory of the kernel are not memory of a process: the command gets none. */
function limitedCommand(
  { program, args, limits }: SandboxCommand | SandboxServer,
  folder: string,
  processes: number,
): string[] {
  return [
    'prlimit',
    `--cpu=${limits.cpu_s}:${limits.cpu_s + 1}`,
    `--as=${limits.address_space_bytes ?? limits.memory_bytes}`,
    `--fsize=${limits.disk_bytes}`,
    `--nproc=${processes}`,
    `--nofile=${limits.open_files}`,
    '--core=0',
    '--msgqueue=0',
    '--memlock=0',
    '--rtprio=0',
    '--',
    ...['sh', '-c', start_script, 'sandbox', program],
    ...args.map((arg) => (typeof arg === 'string' ? arg : `${folder}/${arg.input}`)),
  ]
}

/** One file for each page of the folder: an empty file takes memory of the kernel as well, about a quarter of a page. */
function countFiles({ disk_bytes }: SandboxProcessLimits): number {
  return Math.ceil(disk_bytes / 4_096) + 64
}

/** What every command sees. */
function isSystemPath(path: string): boolean {
  return /^\/(usr|bin|sbin|lib|lib32|lib64|libx32)\//.test(path)
}
