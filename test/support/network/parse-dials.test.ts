// Each kind of address that strace prints is read, and every one that leads out is found.
import { expect, test } from 'vitest'
import { findEgress, parseDials } from './parse-dials.ts'

const trace = `
12 connect(21, {sa_family=AF_INET, sin_port=htons(8420), sin_addr=inet_addr("127.0.0.1")}, 16) = -1 EINPROGRESS
12 connect(22, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("127.0.0.53")}, 16) = 0
13 connect(23, {sa_family=AF_INET6, sin6_port=htons(443), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "2001:db8::1", &sin6_addr), sin6_scope_id=0}, 28) = -1 ENETUNREACH
13 sendto(24, ""..., 40, MSG_NOSIGNAL, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("10.0.0.2")}, 16) = 40
13 sendmmsg(24, [{msg_hdr={msg_name={sa_family=AF_INET, sin_port=htons(514), sin_addr=inet_addr("10.0.0.3")}, msg_namelen=16}}], 1, 0) = 1
14 connect(25, {sa_family=AF_UNIX, sun_path="/tmp/site/run/site/sock"}, 110) = 0
14 sendto(26, ""..., 20, 0, {sa_family=AF_NETLINK, nl_pid=0, nl_groups=00000000}, 12) = 20
14 sendto(21, ""..., 20, 0, NULL, 0) = 20
`

test('each kind of address is read, each once', () => {
  expect(parseDials(trace + trace)).toEqual([
    { host: '127.0.0.1', port: 8420 },
    { host: '127.0.0.53', port: 53 },
    { host: '2001:db8::1', port: 443 },
    { host: '10.0.0.2', port: 53 },
    { host: '10.0.0.3', port: 514 },
    { host: '/tmp/site/run/site/sock' },
  ])
})

test('what leads out, or asks a resolver, is found', () => {
  expect(findEgress(parseDials(trace)).map(({ host }) => host)).toEqual([
    '127.0.0.53',
    '2001:db8::1',
    '10.0.0.2',
    '10.0.0.3',
  ])
})
