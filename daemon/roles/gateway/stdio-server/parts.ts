// The part of the gateway that runs the tool servers of the site.
import { part } from '../../../kernel/role/part.ts'

export interface StdioServers {
  /** Why a server does not work: it could not be started, or has ended by itself since. */
  troubleOf(name: string): string | undefined
  /** Ends those that no call has used for their time. */
  endIdle(): Promise<void>
  /** When each was registered last, and the trouble of that time. */
  readonly rounds: Map<string, { readonly at_ms: number; readonly trouble: string | undefined }>
}
export const stdioServersPart = part<StdioServers>('stdio-servers')
