// Finds out what the kernel of this machine gives, by commands that run under the limits that will hold.
import type { Sandbox, SandboxIsolation, SandboxLimits } from '../../../daemon/kernel/sandbox/sandbox.ts'
import type { ControlGroups } from './control-group.ts'
import { linuxSandbox } from './linux-sandbox.ts'
import { readOr } from './running-processes.ts'

/**
 * The strongest isolation that this machine gives to commands with these limits. Throws where it gives none: the tools
 * of util-linux are absent, or this process may not set the limits. Without `groups` nothing is found out about those.
 */
export async function openSandbox(limits: SandboxLimits, groups?: ControlGroups): Promise<Sandbox> {
  const common = [
    ...((await holdsKeys()) ? [keys_shortfall] : []),
    ...(groups?.shortfall === undefined ? [] : [`${memory_shortfall}: ${groups.shortfall}`]),
  ]
  const open = async (isolation: SandboxIsolation) => {
    const kind = { isolation, ...(groups ? { groups } : {}) }
    return { ...kind, ...(await probe(linuxSandbox(kind), limits)) }
  }
  const strong = await open('namespaces')
  if (strong.failure === undefined) return linuxSandbox({ ...strong, shortfalls: [...strong.shortfalls, ...common] })
  const weak = await open('limits')
  if (weak.failure !== undefined)
    throw new Error(`no command can be run in a sandbox here: ${weak.failure}; ${remedyOf(weak.failure)}`)
  const shortfalls = [`namespaces are not available: ${strong.failure}`, ...common]
  if (groups && !groups.create) shortfalls.push(escape_shortfall)
  return linuxSandbox({ ...weak, shortfalls })
}

const memory_shortfall = 'memory is summed ten times a second, and not bounded by the kernel'
const escape_shortfall = 'a process that leaves the group of its command may outlive it'
const keys_shortfall =
  'a command may read the keys of the session keyring that this process inherited: start it with a keyring of its own (KeyringMode=private)'

/** A session keyring is inherited through every namespace. Keyrings and certificates in it are not secret. */
async function holdsKeys(): Promise<boolean> {
  const types = (await readOr('/proc/keys', '')).split('\n').map((line) => line.trim().split(/\s+/)[7])
  return types.some((type) => type === 'user' || type === 'big_key')
}

function remedyOf(failure: string): string {
  return /resource limit/.test(failure)
    ? 'raise this limit of the site’s process (LimitNOFILE=, LimitNPROC=, LimitFSIZE=, ... in its unit)'
    : 'install util-linux (setpriv, prlimit, unshare)'
}

type ProbeResult = { readonly failure?: string; readonly shortfalls: readonly string[] }

/** What a command meets that looks at two settings of its namespaces: the setup has made both 0 where the kernel lets it. */
async function probe(sandbox: Sandbox, limits: SandboxLimits): Promise<ProbeResult> {
  const result = await sandbox.run({
    program: '/bin/sh',
    args: ['-c', 'cat /proc/sys/user/max_user_namespaces /proc/sys/kernel/shmmni; exit 7'],
    inputs: {},
    visible: [],
    limits: { ...limits, time_ms: 30_000, output_bytes: 4_096 },
  })
  if (result.kind === 'not_started') return { failure: result.detail, shortfalls: [] }
  if (result.kind !== 'exited' || result.code !== 7)
    return { failure: `a command that does nothing was ${result.kind}`, shortfalls: [] }
  if (sandbox.isolation === 'limits') return { shortfalls: [] }
  const [namespaces, segments] = Buffer.from(result.stdout).toString().split('\n')
  return {
    shortfalls: [
      ...(namespaces === '0' ? [] : ['a command may make namespaces of its own']),
      ...(segments === '0' ? [] : ['shared memory of System V is not bounded']),
    ],
  }
}
