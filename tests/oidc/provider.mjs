// An OpenID Connect provider as a process of its own: `node provider.mjs REDIRECT_URI GROUPS`, GROUPS as {"name": ["group", ...]}.
// Any password is right; it says on its first line where it listens.
import http from 'node:http'
import { Provider } from 'oidc-provider'

const [redirectUri, groups] = [process.argv[2], JSON.parse(process.argv[3])]
const server = http.createServer()
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`
  const provider = new Provider(issuer, {
    clients: [{ client_id: 'slotlight', client_secret: 'a secret of the test', redirect_uris: [redirectUri] }],
    pkce: { required: () => true },
    claims: { openid: ['sub'], profile: ['preferred_username', 'groups'] },
    cookies: { keys: ['of the test'] },
    findAccount: (ctx, sub) => ({
      accountId: sub,
      claims: () => ({ sub, preferred_username: sub === 'nameless' ? undefined : sub, groups: groups[sub] || [] })
    })
  })
  server.on('request', provider.callback())
  console.log(issuer)
})
