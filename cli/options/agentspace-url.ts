// The AI gateway that the environment names (AGENTSPACE_URL): its tools, and the root of its chat.
import { toolsPath } from '../../daemon/kernel/api/mcp-tools.ts'
import { CommandFailure } from '../program/command.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { readNamedToken, type ServiceOptionsInput } from './service-options.ts'

export type AgentspaceAddress = {
  /** Of `/api/v1/chat` and other paths of the gateway. */
  readonly root: URL
  readonly tools: URL
}

/** With the path of the tools, as outside of a cluster, or without, as inside. Undefined: the environment names none. */
export function readAgentspaceUrl({ AGENTSPACE_URL: text = '' }: Terminal['env']): AgentspaceAddress | undefined {
  if (text === '') return undefined
  const root = URL.parse(text)
  if (!root || !/^https?:$/.test(root.protocol) || root.username || root.password || root.search || root.hash)
    throw new CommandFailure(2, 'AGENTSPACE_URL must be an http or https URL without credentials, query and fragment')
  const base = root.pathname.replace(/\/+$/, '')
  root.pathname = base.endsWith(toolsPath) ? base.slice(0, -toolsPath.length) : base
  const tools = new URL(root)
  tools.pathname = `${root.pathname.replace(/\/$/, '')}${toolsPath}`
  return { root, tools }
}

/** It may be another site's: it gets a token that is meant for it, and none that is minted here. */
export async function requireAgentspaceToken(params: ServiceOptionsInput, terminal: Terminal): Promise<string> {
  const token = (await readNamedToken(params, terminal)) || terminal.env.PLATFORM_TOKEN
  if (token) return token
  throw new CommandFailure(
    2,
    'the gateway of AGENTSPACE_URL needs a token',
    'set PLATFORM_TOKEN, or name a file with --token-file',
  )
}
