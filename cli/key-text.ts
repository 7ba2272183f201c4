// Keys as people read and compare them.
import type { PublicKey } from '../daemon/kernel/keys.ts'

export const keyColumns = ['kid', 'use', 'algorithm', 'status', 'created', 'not_after', 'role', 'fingerprint']

export const keyUses: readonly PublicKey['use'][] = ['message', 'token', 'personal', 'root']
