// Declares the site role: the one process that owns keys, peers, channels, the issuer and the checkpoints.

import { jobLeases } from '../../kernel/job/lease.ts'
import { type Role, role } from '../../kernel/role/role.ts'
import { backupJob } from './backup/backup-job.ts'
import { backups } from './backup/model.ts'
import { list as channelList } from './channel/list.ts'
import { unfreeze } from './channel/unfreeze.ts'
import { create as checkpointCreate } from './checkpoint/create.ts'
import { list as checkpointList } from './checkpoint/list.ts'
import { checkpoints } from './checkpoint/model.ts'
import { publish as coalitionPublish } from './coalition/publish.ts'
import { create as dataKeyCreate } from './data-key/create.ts'
import { open as dataKeyOpen } from './data-key/open.ts'
import { deadlineGauges, setDeadlineGauges } from './deadline-gauges.ts'
import { grant } from './delegation/grant.ts'
import { principal } from './delegation/principal.ts'
import { token } from './delegation/token.ts'
import { draft } from './epoch/draft.ts'
import { open } from './epoch/open.ts'
import { receipt } from './gap/receipt.ts'
import { resend as gapResend } from './gap/resend.ts'
import { skip } from './gap/skip.ts'
import { list as keyList } from './key/list.ts'
import { take } from './keyset/take.ts'
import { discard } from './message/discard.ts'
import { land } from './message/land.ts'
import { list as messageList } from './message/list.ts'
import { purge } from './message/purge.ts'
import { resend } from './message/resend.ts'
import { send } from './message/send.ts'
import { verify } from './message/verify.ts'
import { channelGauges, setChannelGauges } from './metrics.ts'
import { outline } from './outline.ts'
import { admission } from './peer/admission.ts'
import { crossing } from './peer/crossing.ts'
import { list as peerList } from './peer/list.ts'
import { peerHeads } from './peerhead/model.ts'
import { take as peerHeadTake } from './peerhead/take.ts'
import { approve } from './quarantine/approve.ts'
import { dismiss } from './quarantine/dismiss.ts'
import { get as quarantineGet } from './quarantine/get.ts'
import { list as quarantineList } from './quarantine/list.ts'
import { dismissalRequests, releaseRequests } from './quarantine/model.ts'
import { request } from './quarantine/request.ts'
import { create as signatureCreate } from './signature/create.ts'
import { verify as signatureVerify } from './signature/verify.ts'
import { discovery } from './token/discovery.ts'
import { issue } from './token/issue.ts'
import { keys } from './token/keys.ts'
import { revoke } from './token/revoke.ts'
import { get as verificationGet } from './verification/get.ts'
import { backup } from './workers/backup.ts'
import { keysets } from './workers/keysets.ts'
import { retention } from './workers/retention.ts'

export const site: Role = role(outline, {
  collections: [checkpoints, peerHeads, releaseRequests, dismissalRequests, backups, jobLeases],
  jobs: [backupJob],
  metrics: [...channelGauges, ...deadlineGauges],
  async gauges(call) {
    await setChannelGauges(call)
    await setDeadlineGauges(call)
  },
  workers: [backup, keysets, retention],
  operations: {
    token: { issue, revoke, keys, discovery },
    delegation: { grant, principal, token },
    key: { list: keyList },
    'data-key': { create: dataKeyCreate, open: dataKeyOpen },
    keyset: { take },
    peer: { list: peerList, crossing, admission },
    message: { list: messageList, send, land, verify, purge, resend, discard },
    gap: { receipt, resend: gapResend, skip },
    epoch: { draft, open },
    signature: { create: signatureCreate, verify: signatureVerify },
    channel: { list: channelList, unfreeze },
    quarantine: { list: quarantineList, get: quarantineGet, request, approve, dismiss },
    checkpoint: { create: checkpointCreate, list: checkpointList },
    coalition: { publish: coalitionPublish },
    peerhead: { take: peerHeadTake },
    verification: { get: verificationGet },
  },
  messages: { keys: take, inventory: peerHeadTake },
  serviceInfo: ({ deployment_profile, transports }) => ({
    name: 'site-service',
    description: 'Keys, peers, channels, token issuer and audit checkpoints of this site',
    health_path: '/health',
    api_path: '/api/v2',
    capabilities: ['token-issuer', 'filedrop', 'audit-checkpoint'],
    deployment_profile,
    supported_transports: [...transports],
  }),
})
