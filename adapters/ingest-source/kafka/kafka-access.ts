// How a topic of Kafka is reached: any of some brokers, which name the others.
import type { ServerAccess } from '../../../daemon/shared/row-source/server-access.ts'
import type { AddressRule } from '../../platform/address-rule/address-rule.ts'

export type KafkaAccess = Omit<ServerAccess, 'host'> & {
  /** Hosts, all at the one port. */
  readonly brokers: readonly string[]
  readonly mechanism: 'none' | 'plain' | 'scram-sha-256' | 'scram-sha-512'
  readonly topic: string
  /** Consumer group to which offsets are committed. */
  readonly group?: string | undefined
  /** Of each broker, also of those that others name. */
  readonly rule: AddressRule
}
