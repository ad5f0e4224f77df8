<doc id="debate-1" genre="speech" year="2024">
<speaker name="Ann" party="X" age-group="40">
<p>
<s>
Europe	NNP	Europe
needs	VBZ	need
new	JJ	new
trains	NNS	train
.	.	.
</s>
<s>
Trains	NNS	train
<q by="Mia">
bring	VBP	bring
Europe	NNP	Europe
together	RB	together
</q>
.	.	.
</s>
</p>
<p>
<s>
Who	WP	who
pays	VBZ	pay
?	.	?
</s>
</p>
</speaker>
<speaker name="Bob" party="Y">
<p>
<s>
Europe	NNP	Europe
pays	VBZ	pay
for	IN	for
new	JJ	new
roads	NNS	road
.	.	.
</s>
</p>
</speaker>
</doc>
<doc id="news-1" genre="news" year="2021">
<p>
<s>
Europe	NNP	Europe
votes	VBZ	vote
today	NN	today
.	.	.
</s>
</p>
</doc>
