import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dashboardApp, makeRuns } from '../../support/dashboard.ts'

describe('access to the dashboard', () => {
  let runs: Awaited<ReturnType<typeof makeRuns>>
  beforeAll(async () => {
    runs = await makeRuns()
  })
  afterAll(() => runs.remove())
  const ask = (headers: Record<string, string>, path = '/api/runs', init: RequestInit = {}) =>
    dashboardApp(runs.directory).request(`http://127.0.0.1:7333${path}`, { ...init, headers })

  it.each(['evil.example', 'evil.example:7333', '127.0.0.1.evil.example', '10.0.0.1:7333'])(
    'refuses the host name %s, which may have been pointed at this machine',
    async (host) => expect((await ask({ host })).status).toBe(403),
  )
  it.each(['127.0.0.1:7333', 'localhost:8000', '[::1]:7333'])('answers as %s, through a tunnel too', async (host) =>
    expect((await ask({ host })).status).toBe(200),
  )
  it('refuses requests from pages of other sites', async () => {
    const host = '127.0.0.1:7333'
    expect((await ask({ host, origin: 'http://evil.example' })).status).toBe(403)
    expect((await ask({ host, origin: 'null' })).status).toBe(403)
    expect((await ask({ host, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' })).status).toBe(403)
    expect((await ask({ host, origin: 'http://127.0.0.1:7333' })).status).toBe(200)
  })
  it.each(['POST', 'PUT', 'DELETE'])('only reads: %s is refused', async (method) =>
    expect((await ask({ host: 'localhost' }, '/api/runs', { method })).status).toBe(405),
  )
  it.each(['/', '/api/runs', '/assets/style.css', '/api/nothing'])(
    'lets no script but its own run on %s',
    async (path) => {
      const policy = (await ask({ host: 'localhost' }, path)).headers.get('content-security-policy') ?? ''
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).not.toContain('unsafe')
    },
  )
  it.each(['..', '../..', '%2e%2e', '..%2f..%2fetc', 'mine/../mine', '/etc', 'mine%00', '.'])(
    'takes the run id %s for a name that no run has',
    async (id) => {
      const response = await ask({ host: 'localhost' }, `/api/runs/${encodeURIComponent(id)}`)
      expect(response.status).toBe(404)
    },
  )
  it.each(['..%2Fmain.js', '%2e%2e%2fpackage.json', 'main.ts', 'page.json', 'main.js.map'])(
    'serves no file named %s',
    async (name) => expect((await ask({ host: 'localhost' }, `/assets/${name}`)).status).toBe(404),
  )

  describe('with a token', () => {
    const open = (path: string, headers: Record<string, string> = {}) =>
      dashboardApp(runs.directory, { token: 'secret', loopbackOnly: false }).request(`http://box:7333${path}`, {
        headers: { host: 'box:7333', ...headers },
      })

    it('shows nothing without it', async () => {
      expect((await open('/')).status).toBe(401)
      expect((await open('/api/runs?token=wrong')).status).toBe(401)
      expect((await open('/api/runs', { cookie: 'drift_grpo_dashboard_7333=wrong' })).status).toBe(401)
    })
    it('moves it from the address into a cookie that scripts cannot read', async () => {
      const response = await open('/runs/mine?token=secret&x=1')
      expect(response.status).toBe(303)
      expect(response.headers.get('location')).toBe('/runs/mine?x=1')
      const cookie = response.headers.get('set-cookie') ?? ''
      expect(cookie).toMatch(/HttpOnly; SameSite=Strict/)
      expect((await open('/api/runs', { cookie: cookie.split(';')[0] ?? '' })).status).toBe(200)
    })
    it('keeps it apart from that of a dashboard on another port', async () => {
      const response = await open('/?token=secret', { host: 'box:7334' })
      expect(response.headers.get('set-cookie')).toMatch(/^drift_grpo_dashboard_7334=/)
    })
    it('never sends the token holder to another host', async () =>
      expect((await open('//evil.example/?token=secret')).headers.get('location')).toBe('/evil.example/'))
    it('takes it as a bearer too', async () =>
      expect((await open('/api/runs', { authorization: 'Bearer secret' })).status).toBe(200))
  })
})
