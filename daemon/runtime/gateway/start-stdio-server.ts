// Starts the tool servers of the site in the sandbox: never beside it, where this machine gives none that hides files and network.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { openCommandSandbox } from '../../boot/host/command-sandbox.ts'
import type { Sandbox, SandboxServer } from '../../kernel/sandbox/sandbox.ts'
import type { Log } from '../../kernel/telemetry/log.ts'
import type { StdioServerPlan } from '../../kernel/tools/stdio-server.ts'
import type { StdioServerSettings } from '../../roles/gateway/stdio-server/model.ts'
import { findWeakness, limitsOf, probeLimits } from '../../roles/gateway/stdio-server/rules.ts'
import { logErrorOutput } from './log-error-output.ts'

export type ServerStart = StdioServerPlan['start']

const max_secret_bytes = 65_536

/** Files that a program needs to find and check other machines. */
const network_files = ['/etc/resolv.conf', '/etc/hosts', '/etc/ssl', '/etc/pki', '/etc/ca-certificates']

export function stdioServerStarts(
  declared: readonly (readonly [string, StdioServerSettings])[],
  { log, monotonic }: { readonly log: Log; readonly monotonic: () => number },
): { of(name: string): ServerStart; findFault(): Promise<string | undefined> } {
  const byName = new Map(declared)
  let opening: Promise<Sandbox> | undefined
  const openSandbox = async () => {
    opening ??= openCommandSandbox(log, probeLimits([...byName.values()]))
    try {
      return await opening
    } catch (error) {
      opening = undefined
      throw error
    }
  }
  return {
    of: (name) => async (attach, signal) => {
      try {
        const server = byName.get(name)
        if (!server) throw new Error('the profile does not name it')
        const sandbox = await openSandbox()
        const weakness = findWeakness(sandbox)
        if (weakness !== undefined) throw new Error(weakness)
        const secrets = await readSecrets(server)
        const attachBoth: typeof attach = (streams) => {
          void logErrorOutput(streams.stderr, { service: name, secrets: Object.values(secrets), log, monotonic })
          attach(streams)
        }
        return await sandbox.serve(describeServer(server, secrets), attachBoth, signal)
      } catch (error) {
        return { kind: 'not_started', detail: error instanceof Error ? error.message : String(error) }
      }
    },
    async findFault() {
      if (declared.length === 0) return undefined
      try {
        return findWeakness(await openSandbox())
      } catch (error) {
        return error instanceof Error ? error.message : String(error)
      }
    },
  }
}

function describeServer(server: StdioServerSettings, secrets: Readonly<Record<string, string>>): SandboxServer {
  const { command, visible, env, network } = server
  const [program, ...args] = command
  return {
    ...{ program, args, inputs: {}, network, limits: limitsOf(server) },
    visible: network === 'machine' ? [...visible, ...network_files.filter((path) => existsSync(path))] : visible,
    env: { ...env, ...secrets },
  }
}

/** Without the line break at the end that editors write. Throws an Error that names the variable and no value. */
async function readSecrets({ secret_env }: StdioServerSettings): Promise<Record<string, string>> {
  const read = Object.entries(secret_env).map(async ([name, file]) => {
    const text = await readFile(file, 'utf8').catch(() => undefined)
    if (text === undefined) throw new Error(`the file of ${name} cannot be read`)
    const value = text.replace(/\r?\n$/, '')
    if (value.length > max_secret_bytes || value.includes('\0')) throw new Error(`the file of ${name} holds no secret`)
    return [name, value] as const
  })
  return Object.fromEntries(await Promise.all(read))
}
