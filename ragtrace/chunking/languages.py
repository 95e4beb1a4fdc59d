"""Words that decide whether a stop ends a sentence, without their last stop."""


def _words(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


# Names follow; capitals matter: "Gen." is a general, "5 ft." is the end of a measure.
_TITLES = _words(
    "Mr Mrs Ms Mx Dr Prof Rev Hon Gen Col Maj Capt Cpt Cmdr Comdr Adm Lt Sgt Cpl Pvt Brig Sen Rep",
    "Gov Pres Supt Insp Det Amb Sec Messrs Mme Mlle Mmes Fr Br Bro Msgr Ste Sts Pfc Drs Hr Hrn Frl",
    "Dipl Ing Sra Srta Dña Dott Avv Sig Mgr Bc Civ Crim Cir Asst Atty Sgd",
)
TITLES = _TITLES | {title.upper() for title in _TITLES}
# Never the last word of a sentence, however they are written.
ABBREVIATIONS = _words(
    "e.g i.e eg ie cf c.f viz vs v approx esp resp incl excl ca a.k.a p.s misc rev'd aff'd n.b",
    "z.b d.h u.a i.d.r i.a o.g s.o s.u vgl bzw bspw ggf evtl sog zzgl inkl exkl bzgl geb hrsg",
    "p.ej p.ex p.es ud uds dhr mevr sig.ra m.in tzw tzn tzv т.е т.к напр см ул им",
)
# Inside a sentence a number or a reference follows.
NUMBERED = _words(
    "no nos nr n° fig figs eq eqs eqn sec secs sect ch chap chaps vol vols art arts p pp para",
    "paras",
    "pt pts ref refs tab app ex op cap lib bk ver reg sched § §§ num abs abb bd jg kap pag pág núm",
    "rom phil cor gal eph thess tim heb matt deut exod gen lev sam chron prov isa jer ezek est",
    "circa",
    "ext tel apt rm lot exh amend cl стр рис табл",
)
# May end a sentence: they do when a word follows that begins sentences.
CLOSING = _words(
    "inc ltd co corp llc bros jr sr esq plc pty gmbh dept assn blvd hwy al ed eds trans st rd ave",
    "a.m p.m b.c a.d b.c.e c.e ph.d m.d b.a m.a b.sc m.sc d.c u.s u.k u.n e.u u.s.a u.s.s.r",
)
CAPITALISED_CLOSING = _words(
    "Jan Feb Mar Apr Jun Jul Aug Sept Sep Oct Nov Dec Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun",
    "Ala Ariz Ark Calif Colo Conn Del Fla Ill Ind Kan Ky Md Mich Minn Miss Mo Mont Neb Nev",
    "Okla Ore",
    "Pa Penn Tenn Tex Va Vt Wash Wis Wyo Mass Ont Que St Mt Ft Pt Fed Supp Ct Stat Dist Univ Assoc",
)
# Close an enumeration, and with it the sentence when a capital follows.
OPEN_ENDED = _words("etc usw u.s.w ecc enz osv itd itp atd apod atď т.д т.п др")

STARTERS = _words(
    "the a an this that these those it its it's he she they we i you his her their our my your",
    "there here in on at by for from with to as if when while where after before since until",
    "although though because during despite unlike under through what who why how which whose do",
    "does did is are was were will would can could should may might must have has had let please",
    "no not yes and but or so yet then thus hence however moreover furthermore therefore",
    "nevertheless meanwhile also still even just only some many most all both each every another",
    "other one two three several few such once now today later i'm i've i'll i'd he's she's",
    "they're",
    "we're you're that's there's don't didn't what's let's see",
)
# A small letter after a stop is a slip, or a style, where one of these follows.
LOWER_STARTERS = _words(
    "i i'm i've i'll i'd im ive you your you're it it's its he we she they there there's this",
    "that these those my the a if when what what's how why where who is are was do does did can",
    "could would will should not just please plz pls thanks no yes yeah ok so also maybe but and",
    "plus some someone any anyone our his her their in try let let's don't can't because",
)
# A stop and a capital without a space between them: only these say that a sentence begins.
GLUED_STARTERS = _words("You I It The This That They We He She There")
# Short words that end sentences; other short words before a small letter are abbreviations.
SHORT_WORDS = _words(
    "it me up in to so do go is be on us ok if of he we my by at as or an hi oh id tv pc"
)
SPEECH = _words(
    "said asked replied answered cried exclaimed whispered shouted murmured muttered added called",
    "continued inquired returned demanded",
)
# "am 3. Mai", "im 19. Jahrhundert": a number that counts, not one that ends.
MONTHS = _words(
    "januar februar märz april mai juni juli august september oktober november dezember jänner",
    "januari februari mars maj augusti marts oktober desember",
)
ORDINAL_BEFORE = _words("im der die das den dem des zum vom beim ins")

# A line does not end with one of these unless the sentence goes on.
UNFINISHED = _words(
    "a an the this that these those my your his her its our their of in on at by for from with to",
    "as into upon about over under between through and or nor but if than because while when where",
    "who which whose is are was were be been will would can could may might must shall should has",
    "have had not no very so",
)

# What spaCy's language data does not have.
MORE_ABBREVIATIONS_OF = {
    "cs": "např tj mj resp popř prof doc ing mgr bc mudr sv č čp str obr ul nám",
    "it": "sig dott avv prof ing arch geom rag pagg cfr art",
    "pl": "np tj prof hab mgr inż lek ul św zob por pt wg godz",
    "sk": "napr tj resp prof doc ing mgr sv č str obr ul nám",
}
# Words that begin sentences after an abbreviation that may end one.
STARTERS_OF = {
    "de": "der die das den dem ein eine er sie es wir ich ihr sein seine diese dieser dieses im in"
    " am an auf bei mit nach von zu aber und oder doch wenn als da wie was wer wo warum nicht auch",
    "es": "el la los las un una él ella ellos en por para con sin pero y o si no este esta esto su"
    " cuando como qué quién dónde también",
    "fr": "le la les l un une il elle ils elles on nous vous je ce cette ces en dans par pour avec"
    " mais et ou si quand comme que qui où aussi son sa ses",
    "it": "il lo la i gli le un una egli ella essi in per con da ma e o se non questo questa"
    " quando come che chi dove anche suo sua",
    "nl": "de het een hij zij ze wij we ik dit dat deze die in op aan bij met na van maar en of"
    " als toen hoe wat wie waar ook niet",
    "pt": "o a os as um uma ele ela eles em por para com sem mas e ou se não este esta isto seu"
    " sua quando como que quem onde também",
}
