// The page of the function that the words of a query name comes first: "shortest path" is `shortest_path`.
// Sphinx's own scores otherwise (sphinx/themes/basic/static/searchtools.js).
var Scorer = {
  score: function (result) {
    const [docname, title, , , score] = result;
    const query = (new URLSearchParams(window.location.search).get("q") || "").trim().toLowerCase();
    const plain = (text) => text.toLowerCase().replace(/[\s_.-]+/g, "");
    const words = plain(query.replace(/^(hpgraph|hpg)\./, ""));
    const page = docname.replace("reference/generated/hpgraph.", "");
    if (page === docname) return score;
    const name = page.split(".").pop();
    if (plain(name) === words) return score + (name === page ? 110 : 100);
    return score + (plain(name).startsWith(words) ? 20 : 0);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
