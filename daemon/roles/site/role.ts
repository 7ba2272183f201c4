// The site role's table of contents: the one process that owns keys, peers, channels, the issuer and the checkpoints.
import { role } from '../../kernel/role.ts'
import { list as channelList } from './channel/list.ts'
import { create as checkpointCreate } from './checkpoint/create.ts'
import { list as checkpointList } from './checkpoint/list.ts'
import { checkpoints } from './checkpoint/model.ts'
import { list as keyList } from './key/list.ts'
import { send } from './message/send.ts'
import { verify } from './message/verify.ts'
import { crossing } from './peer/crossing.ts'
import { list as peerList } from './peer/list.ts'
import { list as quarantineList } from './quarantine/list.ts'
import { filedropSettings, settings } from './settings.ts'
import { create as signatureCreate } from './signature/create.ts'
import { discovery } from './token/discovery.ts'
import { issue } from './token/issue.ts'
import { keys } from './token/keys.ts'
import { revoke } from './token/revoke.ts'
import { backup } from './workers/backup.ts'

export const site = role({
  name: 'site',
  purpose: 'Owns the site’s keys, peers, channels, token issuer, audit checkpoints and backups',
  port: 8420,
  serves: 'site',
  api_prefix: '/api/v2',
  needs: [],
  settings: [settings, filedropSettings],
  collections: [checkpoints],
  metrics: [],
  workers: [backup],
  operations: {
    token: { issue, revoke, keys, discovery },
    key: { list: keyList },
    peer: { list: peerList, crossing },
    message: { send, verify },
    signature: { create: signatureCreate },
    channel: { list: channelList },
    quarantine: { list: quarantineList },
    checkpoint: { create: checkpointCreate, list: checkpointList },
  },
  messages: {},
  serviceInfo: ({ deployment_profile, transports }) => ({
    name: 'site-service',
    version: '1.0.0',
    description: 'Keys, peers, channels, token issuer and audit checkpoints of this site',
    health_path: '/health',
    api_path: '/api/v2',
    tools_count: 0,
    resources_count: 0,
    capabilities: ['token-issuer', 'filedrop', 'audit-checkpoint'],
    deployment_profile,
    supported_transports: [...transports],
  }),
})
