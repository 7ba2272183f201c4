// A peer that holds its own keys, and its keys: no lie has an effect, and each has its alarm.

import { describeInsiderAttacks } from './describe-insider-attacks.ts'
import { keyAttacks } from './key-attacks.ts'

describeInsiderAttacks('its keys', keyAttacks)
