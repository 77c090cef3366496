import time, statistics
from tests.fakes.dispatch_service import serving
from tests.servers import Database
async def test_p(database: Database):
    async with serving(database) as d:
        s=d.scene; a=await s.account(); o=await s.account(); w=await s.worker(o)
        ids=[]
        for _ in range(150):
            r=await s.request(a); ids.append((r, await s.generation(r,w,streamed=True)))
        for name, f in (("status", lambda r,g: d.status(r)),("submit",lambda r,g: d.reply(g,o)),("status2", lambda r,g: d.status(r))):
            t=[]
            for r,g in ids:
                x=time.perf_counter(); await f(r,g); t.append(time.perf_counter()-x)
            print(name, "p50 ms", round(statistics.median(t)*1000,2))
        from services.dispatch.repo import QUERIES
        from horde.store.queries import _QUERY_SECONDS
        for m in _QUERY_SECONDS.collect():
            tot={}
            for x in m.samples:
                if x.name.endswith(("_sum","_count")): tot.setdefault(x.labels["query"],{})[x.name[-5:]]=x.value
            for q,v in tot.items(): print(q, round(v["s_sum" if "s_sum" in v else "_sum"]*1000/v["count"],2) if "count" in v else v)
